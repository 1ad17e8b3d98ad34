-- Which history of the database work that sends money knows, so that a restored one is noticed.
CREATE TABLE app.histories (
  name text PRIMARY KEY,
  history text NOT NULL
);
COMMENT ON TABLE app.histories IS 'histories of this database that work knows; one that was restored or promoted has another, and may lack what was sent';
COMMENT ON COLUMN app.histories.name IS 'of the work, such as payouts';
COMMENT ON COLUMN app.histories.history IS 'cluster and timeline';
