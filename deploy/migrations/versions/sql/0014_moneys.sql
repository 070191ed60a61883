-- A run's cost added amounts of two currencies under the name of the last one. Such a run has no sum
-- any more; what its calls cost is read from them, by currency. The release before keeps adding them
-- until it is replaced.
UPDATE runs r SET cost = NULL, currency = NULL
FROM (SELECT run_id FROM model_calls WHERE cost > 0
      GROUP BY run_id HAVING count(DISTINCT currency) > 1) mixed
WHERE r.id = mixed.run_id;
COMMENT ON COLUMN runs.cost IS
    'Of all calls that ended; null where one has no known price, or amounts are in several currencies.';
COMMENT ON COLUMN runs.currency IS
    'Of what was paid; null where that is in several currencies.';
