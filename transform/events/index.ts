/**
 * Every event we know, and which of them a log is. A new contract standard is one file beside this
 * and one line below.
 */
import type { Hash } from '#primitives.ts'
import * as addressRegistry from './addressRegistry.ts'
import * as channelReserve from './channelReserve.ts'
import * as configurableAccounts from './configurableAccounts.ts'
import * as earn from './earn.ts'
import * as erc20 from './erc20.ts'
import type { AnyArgs, ContractEvent, EmittedLog } from './event.ts'
import * as feeAmm from './feeAmm.ts'
import * as feeManager from './feeManager.ts'
import * as keychain from './keychain.ts'
import * as nonceManager from './nonceManager.ts'
import * as receivePolicies from './receivePolicies.ts'
import * as stablecoinDex from './stablecoinDex.ts'
import * as tip20 from './tip20.ts'
import * as tip20Factory from './tip20Factory.ts'
import * as tip403 from './tip403.ts'
import * as validatorConfig from './validatorConfig.ts'
import * as zoneAdmin from './zoneAdmin.ts'
import * as zoneFactory from './zoneFactory.ts'
import * as zonePortal from './zonePortal.ts'

const standards = [
  erc20,
  tip20,
  tip20Factory,
  feeManager,
  feeAmm,
  stablecoinDex,
  tip403,
  keychain,
  nonceManager,
  receivePolicies,
  addressRegistry,
  channelReserve,
  validatorConfig,
  configurableAccounts,
  zoneFactory,
  zonePortal,
  zoneAdmin,
  earn,
]

/** All declared events. */
export const events: readonly ContractEvent[] = standards.flatMap((standard): ContractEvent[] =>
  Object.values(standard),
)

/** A log and the event it is. `args` are in the order of the signature. */
export interface DecodedLog<Log extends EmittedLog = EmittedLog> {
  readonly log: Log
  readonly event: ContractEvent
  readonly args: AnyArgs
}

const byTopic0 = Map.groupBy(events, (event) => event.topic0)

/**
 * The events with this topic0: usually one; several when contracts share a signature and the
 * emitter decides.
 */
export function findEvents(topic0: Hash): readonly ContractEvent[] {
  return byTopic0.get(topic0) ?? []
}

/**
 * Which declared event a log is, or null: unknown topic0, another emitter, or data that does not
 * fit the signature.
 */
export function decodeLog<Log extends EmittedLog>(log: Log): DecodedLog<Log> | null {
  const [topic0] = log.topics
  if (topic0 === undefined) return null
  for (const event of findEvents(topic0)) {
    const args = event.decode(log)
    if (args !== null) return { log, event, args }
  }
  return null
}
