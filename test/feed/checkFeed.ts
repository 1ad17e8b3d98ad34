/** Reads a deployment's feed as an aggregator does, and checks what it is told. */
import { checkEvents, type FeedEvent, type Problem } from './rules.ts'

/** Fewer say little: the check refuses. */
const EVENTS_MIN = 1_000
/** Blocks of one request, as the feed takes them. */
const CHUNK_BLOCKS = 1_000
/** Requests that read the same blocks again in other pieces, as far as one may ask for so many. */
const AGAIN_PIECES = 50
/** Blocks that the feed gives at once. */
const BLOCKS_MAX = 10_000

export interface FeedReport {
  readonly latestBlock: number
  readonly events: number
  readonly pairs: number
  /** In words; empty where all holds. */
  readonly problems: readonly string[]
}

export type ReadJson = (path: string) => Promise<{ readonly status: number; readonly body: unknown }>

/** `feed` is the part of the path that names the chain, `/feed/mainnet`. */
export async function checkFeed(read: ReadJson, feed: string, eventsMin = EVENTS_MIN): Promise<FeedReport> {
  const problems: string[] = []
  const ok = async <Body>(path: string): Promise<Body> => {
    const { status, body } = await read(path)
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`)
    return body as Body
  }
  const { block } = await ok<{ block: { blockNumber: number } }>(`${feed}/latest-block`)
  const latest = block.blockNumber
  const eventsOf = async (from: number, to: number) =>
    (await ok<{ events: readonly FeedEvent[] }>(`${feed}/events?fromBlock=${from}&toBlock=${to}`)).events
  const events: FeedEvent[] = []
  for (let from = 0; from <= latest; from += CHUNK_BLOCKS)
    events.push(...(await eventsOf(from, Math.min(from + CHUNK_BLOCKS - 1, latest))))
  const words = ({ rule, message }: Problem) => `${rule}: ${message}`
  problems.push(...checkEvents(events, { from: 0, to: latest }).map(words))
  if (events.length < eventsMin)
    problems.push(`events: ${events.length} are too few to say anything; ${eventsMin} are needed`)
  problems.push(...(await differencesAgain(events, latest, eventsOf)))
  problems.push(...(await beyondLatest(read, feed, latest)))
  const pairs = new Set(events.map(({ pairId }) => pairId))
  for (const pair of pairs) problems.push(...(await pairProblems(ok, feed, pair)))
  return { latestBlock: latest, events: events.length, pairs: pairs.size, problems }
}

/** The same blocks in pieces of other lengths tell the same events. */
async function differencesAgain(
  events: readonly FeedEvent[],
  latest: number,
  eventsOf: (from: number, to: number) => Promise<readonly FeedEvent[]>,
): Promise<string[]> {
  const even = Math.min(BLOCKS_MAX, Math.ceil((latest + 1) / AGAIN_PIECES))
  const step = even === CHUNK_BLOCKS ? even + 1 : even
  const again: FeedEvent[] = []
  for (let from = 0; from <= latest; from += step)
    again.push(...(await eventsOf(from, Math.min(from + step - 1, latest))))
  return JSON.stringify(again) === JSON.stringify(events)
    ? []
    : ['chunks: other pieces of the same blocks tell other events']
}

/** A range that is not told yet is refused, not told short. */
async function beyondLatest(read: ReadJson, feed: string, latest: number): Promise<string[]> {
  // Far enough that the chain does not get there meanwhile.
  const { status } = await read(`${feed}/events?fromBlock=${latest}&toBlock=${latest + 9_000}`)
  return status === 400 ? [] : [`latest: blocks above the latest one answered ${status}`]
}

interface PairBody {
  readonly pair: { readonly asset0Id: string; readonly asset1Id: string }
}

async function pairProblems(
  ok: <Body>(path: string) => Promise<Body>,
  feed: string,
  pairId: string,
): Promise<string[]> {
  const { pair } = await ok<PairBody>(`${feed}/pairs/${pairId}`)
  const problems: string[] = []
  for (const id of [pair.asset0Id, pair.asset1Id]) {
    const { asset } = await ok<{ asset: { id: string; name: string; symbol: string } }>(
      `${feed}/assets/${id}`,
    )
    if (asset.id !== id) problems.push(`assets: ${id} is called ${asset.id}`)
    if (asset.name.trim() === '' || asset.symbol.trim() === '') problems.push(`assets: ${id} has no name`)
  }
  return problems
}
