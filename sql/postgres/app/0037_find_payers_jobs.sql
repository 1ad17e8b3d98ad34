-- Payers whose jobs wait are found one after the other, behind however many jobs of one payer.
CREATE INDEX jobs_due_of_payer ON app.jobs (payer, due_at) WHERE due_at IS NOT NULL;
