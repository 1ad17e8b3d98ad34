-- Earlier versions took the rights of PUBLIC from a database that others may use too: to connect, to make temporary tables,
-- and to use the schema public. They are given back once where such a version was here, which the reader's own right to
-- connect tells. On a cluster that is the program's own they are taken again with every start (query/postgres/setup/roles.ts).
DO $$
DECLARE
  wasHere boolean;
BEGIN
  SELECT bool_or(r.rolname LIKE 'millrace\_reader%') AND NOT bool_or(a.grantee = 0) INTO wasHere
  FROM pg_database d
  CROSS JOIN LATERAL aclexplode(d.datacl) AS a
  LEFT JOIN pg_roles r ON r.oid = a.grantee
  WHERE d.datname = current_database();
  IF wasHere THEN
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO PUBLIC', current_database());
    IF to_regnamespace('public') IS NOT NULL THEN
      GRANT USAGE ON SCHEMA public TO PUBLIC;
    END IF;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'rights of PUBLIC could not be given back: this role may not grant them';
END $$;
