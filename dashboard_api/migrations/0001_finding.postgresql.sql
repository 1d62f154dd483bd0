-- Half of each page stays free, so that a finding that is seen again is updated on its own page.
ALTER TABLE dashboard_api_finding SET (fillfactor = 50)

-- Counts read the index alone, which needs a recent vacuum after an import.
ALTER TABLE dashboard_api_finding SET (
    autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02
)
