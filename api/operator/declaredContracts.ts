/**
 * Contracts of the operator's own, from the settings: each event is a table of SQL and may be an
 * activity.
 */
import type { DeclaredContracts } from '#api/services.ts'
import { messageOf, SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { address as toAddress } from '#primitives.ts'
import { type DecodedTable, decodedTable } from '#query/decoded/decodedTable.ts'
import { relationsOf } from '#query/relations/views.ts'
import { UserQueryError } from '#query/UserQueryError.ts'
import { parseSignature, SignatureError } from '#transform/abi/signature.ts'
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
  /** The name that a feed gives a transaction with the event; null keeps it out of feeds. */
  readonly activity: string | null
}

const event = s.object(
  {
    signature: s.text({ description: 'a text' }),
    activity: s.optional(
      s.nullable(s.text({ minLength: 1, maxLength: 100, description: 'a title of 1 to 100 characters' })),
    ),
  },
  { description: 'an object' },
)

const contract = s.object(
  {
    // Short enough for the name of an event behind it (Postgres cuts names at 63).
    name: s.text({
      pattern: '^[a-z][a-z0-9_]{0,30}$',
      description: 'up to 31 lowercase letters, digits and underscores',
    }),
    address: s.optional(s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: '0x and 40 hex characters' })),
    events: s.array(s.union([s.text(), event], { description: 'a signature or an object' }), {
      minItems: 1,
      description: 'a list of events',
    }),
  },
  { description: 'an object' },
)

/**
 * `[{"name": "shop", "address": "0x…", "events": ["Sold(…)", {"signature": "…", "activity": "Item
 * sold"}]}]`
 */
export const contractsSchema = s.array(contract, { description: 'a list' })

export const declaredContract = ({ name, address, events }: s.Static<typeof contract>): DeclaredContract => ({
  name,
  address: address === undefined ? null : toAddress(address),
  events: events.map((given) =>
    typeof given === 'string' ? { signature: given, activity: null } : { activity: null, ...given },
  ),
})

/** Postgres cuts longer names. */
const TABLE_NAME_CHARACTERS_MAX = 63

/** @throws SettingError naming the contract and the event */
export function declareContracts(contracts: readonly DeclaredContract[]): DeclaredContracts {
  const declared = contracts.flatMap((contract) => contract.events.map((event) => declare(contract, event)))
  const taken = new Set(relationsOf('clickhouse').map(({ name }) => name))
  for (const { table } of declared) {
    if (table.name.length > TABLE_NAME_CHARACTERS_MAX)
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
    const isRefused = error instanceof SignatureError || error instanceof UserQueryError
    const hint = isRefused && error.hint ? `; ${error.hint}` : ''
    throw new SettingError(where, `${messageOf(error)}${hint}`, { cause: error })
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
  const event = defineEvent({ signature, ...(address && { emittedBy: toAddress(address) }) })
  return declaredActivity(name, event, title)
}
