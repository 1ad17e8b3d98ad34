/**
 * How an event of a contract is declared: its signature says how to decode it, the rest what it
 * means to us. The registry is `events/index.ts`; which rows and activities follow from events is
 * told in `projections/` and `activities/`, because a log alone cannot give either.
 */
import type { AbiEvent, AbiParameter, AbiParameterToPrimitiveType, ParseAbiItem } from 'viem'
import { type Address, type Hash, type Hex, hash } from '#primitives.ts'
import { abiEvent } from '../abi/abiEvent.ts'
import { parseSignature } from '../abi/signature.ts'
import { compileEventDecoder, type EventLog } from './eventDecoder.ts'

/**
 * Declares an event. The type of `args` follows from the signature; integers up to 48 bits are
 * numbers, wider ones bigints, addresses and bytes lowercase hex.
 *
 * @throws SignatureError or TypeError at load when the signature is not one of a log that can be
 * decoded (anonymous, unnamed parameters).
 */
export function defineEvent<const Signature extends string>(declaration: {
  /**
   * Human-readable ABI: `event Transfer(address indexed from, address indexed to, uint256 amount)`.
   */
  readonly signature: Signature
  /**
   * The contracts that emit it; without them any contract's logs are. A look-alike emitted
   * elsewhere is not this event.
   */
  readonly emittedBy?: Address | ((emitter: Address) => boolean)
  /** The name that an activity feed gives it. */
  readonly title?: string
  /** The webhook type that subscribes to it. */
  readonly webhook?: WebhookEventType
}): ContractEvent<EventName<Signature>, EventArgs<Signature>> {
  const parsed = parseSignature(declaration.signature)
  if (parsed.kind !== 'event') throw new TypeError(`not an event: ${declaration.signature}`)
  const abi = abiEvent(parsed)
  const topic0 = hash(parsed.selector)
  const decodeArgs = compileEventDecoder<EventArgs<Signature>>(abi, topic0)
  const isEmitter = emitterTest(declaration.emittedBy)
  return {
    name: abi.name as EventName<Signature>,
    signature: parsed.canonical,
    topic0,
    abi,
    title: declaration.title ?? null,
    webhook: declaration.webhook ?? null,
    isEmittedBy: isEmitter,
    decode: (log) => (isEmitter(log.address) ? decodeArgs(log) : null),
  }
}

/**
 * Webhook types that stand for one event; the other types look at blocks, transactions and any log.
 */
export type WebhookEventType = 'token:transfer'

/** Arguments by name when the event is not known at compile time. */
export type AnyArgs = Readonly<Record<string, unknown>>

/** A declared event. */
export interface ContractEvent<Name extends string = string, Args = AnyArgs> {
  readonly name: Name
  /** Canonical: `Transfer(address,address,uint256)`. */
  readonly signature: string
  readonly topic0: Hash
  readonly abi: AbiEvent
  readonly title: string | null
  readonly webhook: WebhookEventType | null
  isEmittedBy(emitter: Address): boolean
  /**
   * The log's arguments in the order of the signature, or null when it is not this event. Never
   * throws.
   */
  decode(log: EmittedLog): Args | null
}

/** A log as emitted. */
export interface EmittedLog extends EventLog {
  readonly address: Address
}

export type EventName<Signature extends string> = Parsed<Signature>['name']

export type EventArgs<Signature extends string> = {
  readonly [Input in Parsed<Signature>['inputs'][number] as Input['name'] & string]: ArgOf<Input>
}

type Parsed<Signature extends string> = Extract<ParseAbiItem<Signature>, { readonly type: 'event' }>

type ArgOf<Input extends AbiParameter> = Input extends { readonly indexed: true }
  ? Input['type'] extends HashedType
    ? Hash
    : ValueOf<Input>
  : ValueOf<Input>

/** Types whose indexed form is a hash of the value. */
type HashedType = 'string' | 'bytes' | `${string}]` | 'tuple'

type ValueOf<Input extends AbiParameter> = Input['type'] extends 'address'
  ? Address
  : Input['type'] extends 'bytes32'
    ? Hash
    : Input['type'] extends `bytes${string}` & (`bytes` | `bytes${number}`)
      ? Hex
      : AbiParameterToPrimitiveType<Input, 'outputs'>

function emitterTest(emittedBy: Address | ((emitter: Address) => boolean) | undefined) {
  if (emittedBy === undefined) return () => true
  if (typeof emittedBy === 'function') return emittedBy
  return (emitter: Address) => emitter === emittedBy
}
