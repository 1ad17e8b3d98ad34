/**
 * Finds out what the blocks of a chain prove, by recomputing several of them. Not every EVM chain
 * fills in the roots of Ethereum, or counts logs as it does; what cannot hold there is no lie.
 */
import { MillraceError } from '#errors.ts'
import type { RpcBlock, RpcReceipt } from '#ingest/read/block.ts'
import { ByteBuffer } from '#ingest/read/json/ByteBuffer.ts'
import { type LoosePart, looseParts } from '#ingest/read/looseParts.ts'
import { NodeAnswerError } from '#ingest/read/NodeAnswerError.ts'
import { isIncomplete, type ParsedAnswer, parseAnswer } from '#ingest/read/parsedAnswer.ts'
import { receiptBytes } from '#ingest/read/receiptBytes.ts'
import type { RpcSource } from '#ingest/rpc/rpcSource.ts'
import type { RawRange } from '#ingest/source.ts'
import { isKnownChain } from '#ingest/verify/knownChains.ts'
import { detectHeaderRule, type HeaderRule } from '#ingest/verify/parts/header.ts'
import { type BlockProof, verifyBlock } from '#ingest/verify/verifyBlock.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { Clock } from '#runtime/runtime.ts'
import { type ChainIdentity, nextHeights } from '#store/ledger/ledger.ts'
import type { Postgres } from '#store/postgres.ts'
import { parseRange } from '#transform/decode/parseRange.ts'
import { patientHead } from './patientHead.ts'

export type RulesSource = Pick<RpcSource, 'head' | 'fetch' | 'blockRef'>

/** The endpoints that teach; where there are several, the word of one alone is told apart. */
export type Teachers = RulesSource & Pick<RpcSource, 'endpoints'>

export type ChainRules = Required<Pick<ChainIdentity, 'headerRule' | 'loose' | 'alone'>>

/** Rules, and at how many blocks enough endpoints were heard, or one proved everything. */
export interface Lesson extends ChainRules {
  readonly blocksHeard: number
}

/** Answers of different endpoints looked at before one counts. */
const ANSWERS_MAX = 3
/** Blocks below the newest final one that are looked at, and shares of the chain. */
const BLOCKS_BELOW = [0, 1, 2, 5, 13, 34]
const SHARES = [3 / 4, 1 / 2, 1 / 4, 1 / 16]
/** Blocks looked at beside one that is refused. */
const BLOCKS_AROUND = [1, -1, 2, -2, 5, 13]
/** Old blocks may be gone from a node, and a start waits no longer for them than this. */
const LEARN_MS = 10_000
/** Places where a chain that is held goes on, looked at when it starts again. */
const NEXT_MAX = 8

/**
 * Rules that were learned once hold. At each start a header rule that nobody knew is looked for again, and
 * so is what stands in the way where the chain goes on, and where it ends: blocks of another time may prove
 * less. There no endpoint's word counts alone where there are several.
 */
export async function rulesOf(
  source: Teachers,
  known: ChainIdentity | null,
  { chainId, postgres, clock }: { chainId: number; postgres: Postgres; clock: Clock },
): Promise<ChainRules> {
  if (!known) return await learnRules(source, chainId, clock)
  const { headerRule: held, loose = [] } = known
  const headerRule = held === 'unknown' ? await learnHeaderRule(source, clock).catch(() => held) : held
  if (isKnownChain(chainId)) return { headerRule, loose, alone: [] }
  const isTold = headerRule !== held && isOneAlone(source)
  const alone = joined(known.alone ?? [], new Set(isTold ? ['header'] : []))
  const next = await nextHeights(postgres, chainId, NEXT_MAX)
  const { finalized } = await source.head().catch(() => ({ finalized: -1 }))
  const heights = [...new Set([...next.filter((height) => height <= finalized), finalized])].filter(
    (height) => height > 0,
  )
  const witnesses = witnessesOf(source)
  const look = (height: number, signal: AbortSignal) =>
    looseAlike(source, height, { headerRule, witnesses, signal })
  return { headerRule, loose: joined(loose, await looseAtAll(heights, look, clock)), alone }
}

/** Rules of a chain that is met for the first time. */
export async function learnRules(source: Teachers, chainId: number, clock: Clock): Promise<ChainRules> {
  const { headerRule, loose, alone } = await lessonOf(source, chainId, clock)
  return { headerRule, loose, alone }
}

/** The rules as endpoints tell them now, whatever is held. */
export async function lessonOf(source: Teachers, chainId: number, clock: Clock): Promise<Lesson> {
  const headerRule = await learnHeaderRule(source, clock)
  if (isKnownChain(chainId)) return { headerRule, loose: [], alone: [], blocksHeard: 1 }
  const { finalized } = await patientHead(source, clock)
  const heights = [
    ...BLOCKS_BELOW.map((below) => finalized - below),
    ...SHARES.map((share) => Math.floor(finalized * share)),
  ]
  const asked = [...new Set(heights.filter((height) => height > 0))]
  const witnesses = witnessesOf(source)
  const sure = new Set<LoosePart>()
  let blocksHeard = 0
  const look = async (height: number, late: AbortSignal) => {
    const { parts, tellers } = await looseAt(source, height, headerRule, late)
    if (tellers >= witnesses) for (const part of parts) sure.add(part)
    if (tellers >= witnesses || (tellers > 0 && parts.length === 0)) blocksHeard++
    return parts
  }
  const loose = joined([], await looseAtAll(asked, look, clock))
  const alone = loose.filter((part) => !sure.has(part))
  return {
    ...{ headerRule, loose, blocksHeard },
    alone: joined(alone, new Set(isOneAlone(source) ? ['header'] : [])),
  }
}

/** Endpoints that have to tell the same before it counts: two, where there are two. */
export const witnessesOf = (source: Pick<RpcSource, 'endpoints'>): number =>
  Math.min(2, source.endpoints().length)

/** Whether fewer endpoints answer now than have to tell the same. */
export const isOneAlone = (source: Pick<RpcSource, 'endpoints'>): boolean =>
  source.endpoints().filter(({ state, head }) => state !== 'quarantined' && head !== null).length <
  witnessesOf(source)

export interface Around {
  readonly headerRule: HeaderRule
  /** Endpoints that have to show alike what a block does not prove. */
  readonly witnesses: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * The parts that a block that is refused everywhere does not prove, and those around it; empty if it shows
 * nothing. Unlike at the first start it may be the header, and no endpoint's word counts alone where there
 * are several.
 */
export async function looseAround(
  source: Pick<RulesSource, 'head' | 'fetch'>,
  number: number,
  { headerRule, witnesses, clock, signal }: Around,
): Promise<ReadonlySet<LoosePart>> {
  const { head } = await source.head(signal)
  const look = (height: number, late: AbortSignal) =>
    looseAlike(source, height, { headerRule, witnesses, signal: AbortSignal.any([signal, late]) })
  const shown = await looseAtAll([number], look, clock)
  if (shown.size === 0) return shown
  const heights = BLOCKS_AROUND.map((distance) => number + distance)
  const asked = heights.filter((height) => height > 0 && height <= head.number)
  return new Set([...shown, ...(await looseAtAll(asked, look, clock))])
}

/** In the order in which they are told. */
export const joined = (held: readonly LoosePart[], found: ReadonlySet<LoosePart>): readonly LoosePart[] =>
  looseParts.filter((part) => held.includes(part) || found.has(part))

/** The parts that are less than all, in one line; null if blocks prove everything. */
export function describeRules({ headerRule, loose = [] }: Partial<ChainRules>): string | null {
  const parts = [
    ...(headerRule === 'unknown' && !loose.includes('header') ? [partNames.header] : []),
    ...loose.map((part) => partNames[part]),
  ]
  if (parts.length === 0) return null
  return `blocks of this chain do not prove their ${parts.join(', ')}: what another endpoint tells alike is taken, and marked`
}

/** The parts that one endpoint of several told alone, in one line; null if there are none. */
export function describeAlone(alone: readonly LoosePart[]): string | null {
  if (alone.length === 0) return null
  const names = alone.map((part) => partNames[part]).join(', ')
  return `one endpoint alone told what blocks of this chain prove of their ${names}: a second one is asked as soon as it answers`
}

/** All that an operator should know of what blocks prove, a line each. */
export const describeProof = (
  { checks, ...rules }: Partial<ChainRules> & { readonly checks: string },
  alone: readonly LoosePart[],
): readonly (string | null)[] => [checks === 'roots' ? describeRules(rules) : null, describeAlone(alone)]

const partNames: Readonly<Record<LoosePart, string>> = {
  header: 'block hashes',
  transactionHashes: 'transaction hashes',
  transactionsRoot: 'transactions',
  receiptsRoot: 'receipts',
  bloom: 'logs bloom',
  logIndexes: 'log numbers',
  lists: 'lists of transactions',
}

/**
 * The newest final block decides: genesis blocks are sometimes made by other rules. Only an answer
 * that hashes to the block all endpoints agree on tells the rule; one that is false tells nothing.
 */
export async function learnHeaderRule(source: RulesSource, clock: Clock): Promise<HeaderRule> {
  const { finalized } = await patientHead(source, clock)
  const number = Math.max(0, finalized)
  const agreed = await source.blockRef(number)
  const asked = new Set<string>()
  for (let nth = 0; nth < ANSWERS_MAX; nth++) {
    const raw = await source.fetch({ from: number, to: number }, { not: asked })
    const rule = ruleOf(raw, agreed)
    if (rule !== 'unknown' || asked.has(raw.endpoint)) return rule
    asked.add(raw.endpoint)
  }
  return 'unknown'
}

function ruleOf(raw: RawRange, agreed: BlockRef | null): HeaderRule {
  const told = readAnswer(raw)
  const isAgreed = !(told instanceof NodeAnswerError) && agreed?.hash === told.block.hash
  return isAgreed ? detectHeaderRule(told.block) : 'unknown'
}

async function looseAtAll(
  heights: readonly number[],
  look: (height: number, late: AbortSignal) => Promise<readonly LoosePart[]>,
  clock: Clock,
): Promise<ReadonlySet<LoosePart>> {
  const late = new AbortController()
  const done = new AbortController()
  clock.sleep(LEARN_MS, done.signal).then(
    () => late.abort(),
    () => {},
  )
  const found = new Set<LoosePart>()
  try {
    for (const height of heights) for (const part of await look(height, late.signal)) found.add(part)
  } catch (error) {
    // A node without its old blocks teaches nothing of them.
    if (!late.signal.aborted && !(error instanceof MillraceError)) throw error
  } finally {
    done.abort()
  }
  return found
}

/**
 * The parts that one block does not prove, whoever is asked for it: if one endpoint's answer proves a part,
 * the other one's is false.
 */
async function looseAt(
  source: RulesSource,
  number: number,
  rule: HeaderRule,
  signal: AbortSignal,
): Promise<{ readonly parts: readonly LoosePart[]; readonly tellers: number }> {
  let common: readonly LoosePart[] | null = null
  let tellers = 0
  let agreed: Hash | null | undefined
  for await (const { block, receipts } of tellings(source, number, signal)) {
    const { parts: loose } = looseIn(block, receipts, rule)
    if (loose.length === 0) return { parts: [], tellers: 1 }
    agreed ??= (await source.blockRef(number, signal))?.hash ?? null
    // An answer with a false header shows nothing.
    if (loose.includes('header') || block.hash !== agreed) continue
    common = common === null ? loose : loose.filter((part) => common?.includes(part))
    tellers++
  }
  return { parts: common ?? [], tellers }
}

/** The parts of one block that enough endpoints show alike, and none disproves. */
async function looseAlike(
  source: Pick<RulesSource, 'fetch'>,
  number: number,
  { headerRule, witnesses, signal }: Omit<Around, 'clock'>,
): Promise<readonly LoosePart[]> {
  const shown: (Shown & { readonly hash: Hash })[] = []
  for await (const { block, receipts } of tellings(source, number, signal)) {
    const { parts, isHeaderProved } = looseIn(block, receipts, headerRule)
    if (isHeaderProved && parts.length === 0) return []
    shown.push({ hash: block.hash, parts, isHeaderProved })
  }
  return looseParts.filter((part) =>
    shown.some(({ hash }) =>
      isLooseIn(
        part,
        witnesses,
        shown.filter((one) => one.hash === hash),
      ),
    ),
  )
}

/** Roots that agree with a header which is itself invented disprove nothing. */
const isLooseIn = (part: LoosePart, witnesses: number, alike: readonly Shown[]): boolean =>
  alike.filter(({ parts }) => parts.includes(part)).length >= witnesses &&
  alike.every(({ parts, isHeaderProved }) => parts.includes(part) || !isHeaderProved)

/**
 * A block as each endpoint tells it, in turn; with its receipts asked for one by one where the list
 * of them lacks some. An answer that is no block is passed over.
 */
async function* tellings(
  source: Pick<RulesSource, 'fetch'>,
  number: number,
  signal: AbortSignal,
): AsyncGenerator<ParsedAnswer, void, undefined> {
  const asked = new Set<string>()
  const ask = (receiptsSingly: boolean) =>
    source.fetch({ from: number, to: number }, { not: asked, signal, receiptsSingly })
  for (let nth = 0; nth < ANSWERS_MAX; nth++) {
    let raw = await ask(false)
    let told = readAnswer(raw)
    if (isIncomplete(told)) {
      raw = await ask(true)
      told = readAnswer(raw)
    }
    if (asked.has(raw.endpoint)) return
    asked.add(raw.endpoint)
    if (!(told instanceof NodeAnswerError)) yield told
  }
}

const everything = new Set(looseParts)

/** The error for what is no block, or not the one that was asked for. */
function readAnswer({ bytes, range }: RawRange): ParsedAnswer | NodeAnswerError {
  try {
    const [answer] = parseRange(bytes, range)
    return parseAnswer(answer ?? { number: range.from, block: null, receipts: null }, everything)
  } catch (error) {
    if (error instanceof NodeAnswerError) return error
    throw error
  }
}

interface Shown {
  readonly parts: readonly LoosePart[]
  readonly isHeaderProved: boolean
}

/** Parts that would be refuted, each looked at without the others. */
function looseIn(block: RpcBlock, list: readonly RpcReceipt[], headerRule: HeaderRule): Shown {
  const bytes = new ByteBuffer(0)
  const receipts = { bytes, list: receiptBytes(list, bytes) }
  const proofWith = (part: LoosePart): BlockProof => {
    const loose = new Set(looseParts.filter((other) => other !== part))
    return verifyBlock(block, receipts, { headerRule, checks: 'roots', loose })
  }
  const parts = rootsOfParts.flatMap(([part, root]) => (proofWith(part)[root] === 'refuted' ? [part] : []))
  return {
    parts: isCounted(list) ? parts : [...parts, 'logIndexes'],
    isHeaderProved: proofWith('header').header === 'proved',
  }
}

const rootsOfParts = [
  ['header', 'header'],
  ['transactionHashes', 'transactionsRoot'],
  ['transactionsRoot', 'transactionsRoot'],
  ['receiptsRoot', 'receiptsRoot'],
  ['bloom', 'bloom'],
] as const

const isCounted = (receipts: readonly RpcReceipt[]): boolean =>
  receipts
    .flatMap(({ transactionIndex, logs }) => logs.map((log) => ({ log, transactionIndex })))
    .every(
      ({ log, transactionIndex }, index) =>
        Number(log.logIndex) === index && log.transactionIndex === transactionIndex,
    )
