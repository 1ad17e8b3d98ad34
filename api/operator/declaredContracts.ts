/**
 * Contracts of the operator's own, from the settings: each event is a table of SQL and may be an
 * activity.
 */
import type { DeclaredContracts } from '#api/services.ts'
import { messageOf, SettingError } from '#errors.ts'
import { address as toAddress } from '#primitives.ts'
import { type DecodedTable, decodedTable } from '#query/decoded/decodedTable.ts'
import { parseSignature } from '#query/decoded/signature.ts'
import { relationsOf } from '#query/relations/views.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import type { Activity } from '#transform/activities/activity.ts'
import { declaredActivity } from '#transform/activities/declaredActivity.ts'
import { defineEvent } from '#transform/events/event.ts'

export interface DeclaredContract {
  /** Lowercase; begins the names of the contract's tables. */
  readonly name: string
  /** Lowercase; null for events of any contract. */
  readonly address: `0x${string}` | null
  readonly events: readonly DeclaredEvent[]
}

export interface DeclaredEvent {
  /** As Solidity declares it: `Sold(address indexed buyer, uint256 price)`. */
  readonly signature: string
  /** What a feed calls a transaction with the event; null keeps it out of feeds. */
  readonly activity: string | null
}

/** Postgres cuts longer names. */
const tableNameCharactersMax = 63

/** @throws SettingError naming the contract and the event */
export function declareContracts(contracts: readonly DeclaredContract[]): DeclaredContracts {
  const declared = contracts.flatMap((contract) => contract.events.map((event) => declare(contract, event)))
  const taken = new Set(relationsOf('clickhouse').map(({ name }) => name))
  for (const { table } of declared) {
    if (table.name.length > tableNameCharactersMax)
      throw new SettingError('CONFIG contracts', `make a table \`${table.name}\`, whose name is too long`)
    if (taken.has(table.name)) throw new SettingError('CONFIG contracts', `make two tables \`${table.name}\``)
    taken.add(table.name)
  }
  return {
    tables: declared.map(({ table }) => table),
    activities: declared.flatMap(({ activity }) => (activity ? [activity] : [])),
  }
}

interface Declared {
  readonly table: DecodedTable
  readonly activity: Activity | null
}

function declare(contract: DeclaredContract, event: DeclaredEvent): Declared {
  const where = `CONFIG contract ${contract.name}`
  try {
    return {
      table: tableOf(contract, event),
      activity: event.activity === null ? null : activityOf(contract, event, event.activity),
    }
  } catch (error) {
    if (error instanceof SettingError) throw error
    const hint = error instanceof UserQueryError && error.hint ? `; ${error.hint}` : ''
    // The first line: the rest is for callers of the parser.
    throw new SettingError(where, `${messageOf(error).split('\n')[0]}${hint}`, { cause: error })
  }
}

/**
 * `<contract>_<event>`. Which parameters are indexed is what the signature says: a file declares.
 */
function tableOf({ name, address }: DeclaredContract, { signature }: DeclaredEvent): DecodedTable {
  const parsed = parseSignature(signature)
  if (parsed.kind !== 'event')
    throw new SettingError(`CONFIG contract ${name}`, `\`${signature}\` is not an event`)
  return decodedTable(
    signature,
    { ...parsed, table: `${name}_${parsed.table}` },
    undefined,
    address ?? undefined,
  )
}

function activityOf(
  { name, address }: DeclaredContract,
  { signature }: DeclaredEvent,
  title: string,
): Activity {
  const { parameters } = parseSignature(signature)
  if (parameters.some((parameter) => parameter.name === undefined))
    throw new SettingError(
      `CONFIG contract ${name}`,
      `\`${signature}\` has a parameter without a name, which an activity shows its value under`,
    )
  const declaration = `event ${signature.replace(/^\s*event\s+/, '').replace(/\s+as\s+[\w$]+\s*;?\s*$/, '')}`
  const event = defineEvent({ signature: declaration, ...(address && { emittedBy: toAddress(address) }) })
  return declaredActivity(name, event, title)
}
