-- Calls of jobs by the service that was called, for what is known of its quality.
CREATE INDEX job_nodes_of_service ON app.job_nodes (service_id, ended_at) WHERE attempt > 0 AND NOT is_carried;
