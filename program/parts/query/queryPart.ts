/** Analysts' SQL: both engines behind walls that are proved before anybody is served, and live queries. */
import { LiveHub } from '#api/live/LiveHub.ts'
import { addReaders } from '#local/engines/connection.ts'
import { checkAllWalls, keepWallsChecked } from '#query/setup/wallWatch.ts'
import { definePart } from '../part.ts'
import { openQueryEngines } from './queryEngines.ts'

export const queryPart = definePart({
  name: 'query',
  open: async ({ config, program, chains, secrets, runtime, log }) => {
    const { clock } = runtime
    const sql = await openQueryEngines(program.engines, chains, secrets, runtime, log)
    addReaders(config.dataDir, sql.readers)
    const walled = [sql.postgres, sql.clickhouse]
    const chainIds = [...chains.keys()]
    await checkAllWalls(walled, chainIds, log)
    return {
      notes: sql.notes,
      services: { sql, live: new LiveHub({ chains, engines: sql, clock, log }) },
      run: ({ shutdown }) => keepWallsChecked(walled, chainIds, clock, log, shutdown),
      close: () => Promise.all([sql.postgres.close(), sql.clickhouse.close()]),
    }
  },
})
