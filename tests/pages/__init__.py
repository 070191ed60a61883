"""A real browser on the pages: Debian's Chromium by Playwright."""
