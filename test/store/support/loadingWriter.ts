/**
 * Child process: loads balances in pieces until that is done, or until its failpoint kills it.
 * Arguments: the database, the chain, `name:nth`.
 */
import { systemRuntime } from '#runtime/runtime.ts'
import { openPostgres } from '#store/postgres.ts'
import { schemaOf } from '#store/sql.ts'
import { silentLogger } from '#telemetry.ts'
import { openBalanceLoad, PIECE_TRANSFERS } from './balanceLoad.ts'

const [url = '', chain = '', failpoint = ''] = process.argv.slice(2)
const chainId = Number(chain)
const postgres = openPostgres({ url, applicationName: 'test', log: silentLogger })
const store = { postgres, schema: schemaOf(chainId), chainId }
await openBalanceLoad(store, PIECE_TRANSFERS, systemRuntime(failpoint).failpoint).settle()
await postgres.close()
