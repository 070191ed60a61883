-- Rows for `bench pages`; `:runs` is how many. See pages_rows.py.
CREATE FUNCTION pg_temp.id(kind text, i integer, n integer) RETURNS uuid IMMUTABLE LANGUAGE sql
    RETURN ('01a2290' || kind || '-aafb-716' || i || '-a8dc-' || lpad(to_hex(n), 12, '0'))::uuid;
INSERT INTO documents (id, title, kind, language, revision_seq, actor, created_at)
SELECT pg_temp.id('6', 0, n), 'Weekly ' || n, (ARRAY['minutes', 'text', 'itinerary'])[1 + n % 3],
    (ARRAY['en', 'zh'])[1 + n % 2], 1, 'local',
    now() - n * interval '30 days' / :runs
FROM generate_series(1, :runs) n;
INSERT INTO sources (id, document_id, position, name, media_type, text, sha256, actor)
SELECT pg_temp.id('5', 0, n), pg_temp.id('6', 0, n), 0, 'transcript', 'text/plain',
    repeat('Ana: we ship the blue box ' || n || ' on Friday.' || E'\n',
        CASE WHEN n < 2000 THEN 150 ELSE 5 END), 'x', 'local'
FROM generate_series(1, :runs) n;
INSERT INTO revisions (document_id, number, body, sha256, base, author, created_at)
SELECT pg_temp.id('6', 0, n), v, '# Minutes ' || n || repeat(
        E'\n\n## Decision\n\n- We ship the blue box ' || v || ' on Friday.',
        CASE WHEN n < 2000 THEN 100 ELSE 3 END),
    'x', nullif(v - 1, -1), 'local', now()
FROM generate_series(1, :runs) n, generate_series(0, 1) v;
INSERT INTO runs (id, document_id, kind, kind_version, status, stage, reason_code,
    base_revision, working_revision, best_revision, offered_revision, current_round,
    max_rounds, pass_score, score, profile, event_seq, calls, tokens_input, tokens_output,
    cost, currency, running_since, seconds_running, actor, created_at, started_at, ended_at)
SELECT pg_temp.id('7', 0, n), pg_temp.id('6', 0, n), (ARRAY['minutes', 'text', 'itinerary'])[1 + n % 3], 'abc',
    s, 'ended',
    CASE WHEN s = 'FAILED' THEN 'spinning' WHEN s = 'INTERRUPTED' THEN 'operator' END,
    0, 1, 1, CASE WHEN s IN ('CONFIRMED', 'AWAITING_CONFIRMATION', 'REJECTED') THEN 1 END,
    5, 5, 90, 92, (ARRAY['default', 'fast'])[1 + n % 2], 41, 10, 80000, 4000, 0.12, 'USD',
    CASE WHEN s = 'RUNNING' THEN now() END, 300, 'local', at, at,
    CASE WHEN s IN ('CONFIRMED', 'REJECTED', 'FAILED', 'CANCELLED')
        THEN least(at + interval '6 min', now()) END
FROM (SELECT n, now() - n * interval '30 days' / :runs AS at,
        CASE WHEN n <= 50 THEN 'RUNNING' WHEN n % 50 = 0 THEN 'FAILED'
            WHEN n % 77 = 0 THEN 'CANCELLED' WHEN n % 31 = 0 THEN 'REJECTED'
            WHEN n < 400 AND n % 3 = 0 THEN 'AWAITING_CONFIRMATION'
            WHEN n < 400 AND n % 5 = 0 THEN 'INTERRUPTED' ELSE 'CONFIRMED' END AS s
      FROM generate_series(1, :runs) n) q;
INSERT INTO step_plans (id, run_id, round, name, input_revision, voided_at, created_at)
SELECT pg_temp.id('8', i, n), r.id, 1 + i / 2, (ARRAY['review', 'refine'])[1 + i % 2], 0,
    CASE WHEN n % 2000 = 0 THEN r.created_at + interval '5 min' END, r.created_at
FROM generate_series(1, :runs) n JOIN runs r ON r.id = pg_temp.id('7', 0, n), generate_series(0, 9) i;
INSERT INTO step_parts (plan_id, part, key, position, calls, done_at)
SELECT pg_temp.id('8', i, n), 'main', 'main', 0, 1, now() FROM generate_series(1, 2000) n,
    generate_series(0, 9) i;
INSERT INTO steps (id, run_id, plan_id, epoch, seq, name, round, attempt, status,
    reason_code, input_revision, worker, queued_at, started_at, ended_at)
SELECT pg_temp.id('9', i, n), r.id, pg_temp.id('8', i, n), 1, i + 1,
    (ARRAY['review', 'refine'])[1 + i % 2], 1 + i / 2, 1,
    CASE WHEN i = 9 AND n <= 50 THEN 'RUNNING' WHEN n % 40 = 0 THEN 'FAILED'
        ELSE 'SUCCEEDED' END,
    CASE WHEN n % 40 = 0 AND NOT (i = 9 AND n <= 50) THEN 'interrupted' END,
    0, 'bench', at, at + random() * interval '2 s',
    CASE WHEN i = 9 AND n <= 50 THEN NULL
        ELSE at + interval '3 s' + random() * random() * interval '40 s' END
FROM generate_series(1, :runs) n JOIN runs r ON r.id = pg_temp.id('7', 0, n), generate_series(0, 9) i
CROSS JOIN LATERAL (SELECT r.created_at - interval '6 min' + i * interval '30 s' AS at) t;
INSERT INTO model_calls (id, run_id, step_id, plan_id, step_name, round, part, number,
    status, finish_reason, model, profile, profile_version, kind_version, tokens_input,
    tokens_output, tokens_cached, tokens_reasoning, usage_source, cost, currency,
    prompt_hash, items_kept, partial_text, partial_length, started_at, ended_at)
SELECT ('01a2290a' || substr(s.id::text, 9))::uuid, s.run_id, s.id, s.plan_id, s.name,
    s.round, 'main', 1,
    CASE WHEN s.status = 'RUNNING' THEN 'STARTED' WHEN random() < 0.003 THEN 'LOST'
        WHEN s.status = 'FAILED' THEN 'CANCELLED' ELSE 'SUCCEEDED' END,
    'stop', (ARRAY['m-large', 'm-small'])[1 + s.seq % 2], r.profile, 1, 'abc', 8000, 400,
    100, 0, 'reported', 0.012, 'USD', 'x', (random() * 4)::int,
    CASE WHEN s.status = 'RUNNING' THEN repeat('so far written ', 100) END,
    CASE WHEN s.status = 'RUNNING' THEN 1500 ELSE 0 END, s.started_at, s.ended_at
FROM steps s JOIN runs r ON r.id = s.run_id;
INSERT INTO issues (id, run_id, number, fingerprint, category, severity, quote, problem,
    raised_by, raised_round, seen_round, revision, status)
SELECT pg_temp.id('b', i, n), pg_temp.id('7', 0, n), i + 1, 'f' || i, 'number', 'major', 'the blue box',
    'The transcript says red.', 'verifier:numbers', 1, 1, 0,
    CASE WHEN i % 4 = 0 THEN 'open' ELSE 'fixed' END
FROM generate_series(1, :runs) n, generate_series(0, CASE WHEN n < 2000 THEN 9 ELSE 1 END) i;
INSERT INTO run_events (run_id, seq, type, actor, data, at)
SELECT run_id, seq * 4, CASE WHEN status = 'FAILED' AND seq = 10 THEN 'run_interrupted'
        ELSE 'step_succeeded' END,
    'local', jsonb_build_object('name', name, 'round', round),
    coalesce(ended_at, now()) - interval '0.4 s' FROM steps;
INSERT INTO run_events (run_id, seq, type, actor, data, at)
SELECT r.id, e * 4 - k, (ARRAY['step_started', 'call_started', 'call_ended'])[k], 'worker',
    '{"name": "review", "round": 1}', r.created_at
FROM generate_series(1, least(2000, :runs)) n JOIN runs r ON r.id = pg_temp.id('7', 0, n),
    generate_series(1, 10) e, generate_series(1, 3) k;
INSERT INTO run_events (run_id, seq, type, actor, data, at)
SELECT id, 41, 'guardrail_stop', 'system', '{"code": "spinning"}', ended_at
FROM runs WHERE status = 'FAILED';
INSERT INTO workers (id, machine, boot, pid_ns, pid, started, lock_key, postmaster_started,
    seen_at)
VALUES ('bench', 'm', 'b', 'n', 1, 1, 1, now(), now() + interval '1 day');
INSERT INTO run_counts (kind, actor, status, number)
SELECT kind, actor, status, count(*) FROM runs GROUP BY kind, actor, status;
