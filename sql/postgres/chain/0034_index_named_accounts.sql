-- Serves activities of accounts that a log names and no transfer does: who burned the tokens of another one (BurnAt of a
-- standard token, topic1), and for whom the guard holds, or held, what its receiver refused (topic2 of all it logs). They
-- are few: one index of both is built by one scan and stays small. Look-alikes of other contracts are left out.
CREATE INDEX ON {schema}.logs
    ((CASE topic0 WHEN '\x9272a54543b703f7620d2c151ff14b830f777d251b5f56678d191a9009ee9f35'::bytea THEN topic1 ELSE topic2 END),
     block_num, tx_idx)
    WHERE address = '\xb10c000000000000000000000000000000000000'::bytea
       OR topic0 = '\x9272a54543b703f7620d2c151ff14b830f777d251b5f56678d191a9009ee9f35'::bytea
          AND address >= '\x20c000000000000000000000'::bytea AND address < '\x20c000000000000000000001'::bytea;
