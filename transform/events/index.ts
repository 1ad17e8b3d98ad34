/**
 * Every event we know, and which of them a log is. A new contract standard is one file in the folder
 * of its subject and one line below.
 */
import type { Hash } from '#primitives.ts'
import * as channelReserve from './accounts/channelReserve.ts'
import * as configurableAccounts from './accounts/configurableAccounts.ts'
import * as keychain from './accounts/keychain.ts'
import * as keyPublisher from './accounts/keyPublisher.ts'
import * as nonceManager from './accounts/nonceManager.ts'
import * as earn from './earn.ts'
import type { AnyArgs, ContractEvent, EmittedLog } from './event.ts'
import * as feeAmm from './exchange/feeAmm.ts'
import * as feeManager from './exchange/feeManager.ts'
import * as stablecoinDex from './exchange/stablecoinDex.ts'
import * as addressRegistry from './tokens/addressRegistry.ts'
import * as erc20 from './tokens/erc20.ts'
import * as receivePolicies from './tokens/receivePolicies.ts'
import * as tip20 from './tokens/tip20.ts'
import * as tip20Factory from './tokens/tip20Factory.ts'
import * as tip403 from './tokens/tip403.ts'
import * as validatorConfig from './validatorConfig.ts'
import * as zoneAdmin from './zones/zoneAdmin.ts'
import * as zoneFactory from './zones/zoneFactory.ts'
import * as zonePortal from './zones/zonePortal.ts'

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
  keyPublisher,
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
