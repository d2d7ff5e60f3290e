"""Who is behind a code: codes, keys, sealed pages and the audit log."""
