/**
 * Which transfers only pass a deposit on (TIP-1022). A transfer to a virtual address, 4 bytes of
 * master id, ten bytes 0xfd, 6 bytes of tag, emits sender -> virtual and then virtual -> master;
 * the second hop is the forward.
 *
 * Fails closed: hops are matched per token, virtual address and amount within one transaction, and
 * where they do not match one to one, or go to more than one place, none of them is called a
 * forward.
 */
import { HASH_BYTES, ScannedLog } from '#ingest/read/scan/scannedReceipt.ts'
import { isTip20 } from '../addresses.ts'
import { isTransfer, type LogContent, type TransferLog } from './transferLog.ts'

const virtualMiddle = 'fd'.repeat(10)
/** Offset of the ten bytes in a topic: `0x`, 12 zero bytes, 4 bytes of master id. */
const MIDDLE_FROM = 2 + 24 + 8

/** Positions of the forwards among a transaction's logs, in log order. */
export function findVirtualForwards(logs: readonly LogContent[]): ReadonlySet<number> {
  if (!logs.some(mayTouchVirtual)) return none
  const groups = new Map<string, Hops>()
  logs.forEach((log, position) => {
    if (!touchesVirtual(log) || !isTransfer(log)) return
    for (const side of ['to', 'from'] as const) collect(groups, log, position, side)
  })
  return new Set([...groups.values()].filter(matches).flatMap(({ out }) => out.map((hop) => hop.position)))
}

const none: ReadonlySet<number> = new Set()

interface Hop {
  readonly position: number
  /** Topic of the receiving side. */
  readonly to: string
}

/** Transfers of one amount of one token into and out of one virtual address. */
interface Hops {
  readonly in: Hop[]
  readonly out: Hop[]
}

const isVirtual = (topic: string | undefined): boolean =>
  topic?.startsWith(virtualMiddle, MIDDLE_FROM) === true

/** Only TIP-20 tokens know virtual addresses; anyone can emit look-alike logs from elsewhere. */
const touchesVirtual = (log: LogContent): boolean =>
  (isVirtual(log.topics[1]) || isVirtual(log.topics[2])) && isTip20(log.address)

const VIRTUAL_MIDDLE_WORD = 0xfdfdfdfd

/**
 * Whether a log can touch a virtual address: of a scanned log, four of the ten bytes are compared
 * before its texts are made.
 */
function mayTouchVirtual(log: LogContent): boolean {
  if (!(log instanceof ScannedLog)) return touchesVirtual(log)
  const { view } = log.bytes
  const middleBytes = (MIDDLE_FROM - 2) / 2
  for (let topic = 1; topic < Math.min(log.topicCount, 3); topic++) {
    if (view.getUint32(log.topicsAt + topic * HASH_BYTES + middleBytes) === VIRTUAL_MIDDLE_WORD) return true
  }
  return false
}

function collect(groups: Map<string, Hops>, log: TransferLog, position: number, side: 'from' | 'to'): void {
  const [, from, to] = log.topics
  const virtual = side === 'to' ? to : from
  if (!isVirtual(virtual)) return
  const key = `${log.address}${virtual}${log.data}`
  const hops = groups.get(key) ?? { in: [], out: [] }
  groups.set(key, hops)
  hops[side === 'to' ? 'in' : 'out'].push({ position, to })
}

function matches(hops: Hops): boolean {
  const destination = hops.out[0]?.to
  return (
    destination !== undefined &&
    !isVirtual(destination) &&
    hops.in.length === hops.out.length &&
    hops.out.every(
      (hop, i) => hop.to === destination && (hops.in[i]?.position ?? hop.position) < hop.position,
    )
  )
}
