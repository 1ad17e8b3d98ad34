/**
 * Finds endpoints by intent: candidates from the store, ranked by the one ranker, the same for
 * every door.
 */

import { type CandidateDates, readDates } from '#rows/catalog/catalogCandidates.ts'
import { findAlikeWords, readWords } from '#rows/catalog/catalogReads.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { PlanNode } from '../plan/plan.ts'
import { candidatesOf } from './candidates.ts'
import { type Candidate, readCandidates } from './HeldDocuments.ts'
import type { QualityPriors } from './QualityPriors.ts'
import { readQuestion, type Vocabulary } from './question/question.ts'
import { slotsOf, spelled, unknownWords, wordsAskedOf } from './question/slots.ts'
import { priceScore, type Question, questionOf, type Reason, relevanceOf, scoreOf } from './rank.ts'
import { type EstimatedPrice, knownPrice, type SearchDocument } from './searchDocument.ts'
import { trigramsOf } from './words.ts'

export interface SearchRequest {
  readonly query: string
  readonly limit: number
  readonly resolution: 'static' | 'live'
  readonly serviceIds: readonly string[] | null
  /** Null with services is `require`. */
  readonly serviceMode: 'require' | 'prefer' | null
  readonly withEvidence: boolean
}

export type NextTool = 'describe_service' | 'quote_plan' | 'search_services'

export interface FoundEndpoint {
  readonly serviceId: string
  readonly serviceName: string
  readonly method: SearchDocument['method']
  readonly path: string
  readonly estimatedPrice: EstimatedPrice
  readonly rank: number
  readonly score: number
  readonly scoreDetails: { readonly price: number; readonly relevance: number }
  readonly reasons: readonly Reason[]
  readonly requiredArguments: readonly string[]
  readonly nextTool: 'describe_service' | 'quote_plan'
  readonly suggestedPlanNode?: PlanNode
  readonly lastCatalogedAt: Date
  readonly lastVerifiedAt?: Date
}

export interface SearchResult {
  readonly endpoints: readonly FoundEndpoint[]
  readonly nextTool: NextTool
  /** The kind of search that ran: live probes only if they are enabled. */
  readonly resolution: 'static' | 'live'
  readonly zeroResultGuidance?: string
  readonly internal?: SearchEvidence
}

/** The candidates before the confidence filter, for replays of the ranking. */
export interface SearchEvidence {
  readonly catalog: {
    readonly serviceCount: number
    readonly endpointCount: number
    readonly generatedAt: Date
  }
  readonly candidates: readonly Ranked[]
}

export interface Ranked {
  readonly candidate: Candidate
  readonly document: Candidate['document']
  readonly relevance: number
  readonly price: number
  readonly score: number
  readonly reasons: readonly Reason[]
  /** The value that orders results: the score, and what is known beside relevance and price. */
  readonly value: number
}

/** Below, an endpoint shares hardly more than a word with the question. */
const RELEVANCE_MIN = 0.08
/** Nor is it an answer where others fit so much better. */
const RELEVANCE_TO_BEST_MIN = 0.4
/** Words that are looked up by their spelling, and words of the catalog that each is compared with. */
const UNKNOWN_MAX = 6
const ALIKE_LOOKED_AT = 40

/** Weights of an endpoint's merits beside relevance and price; small, so that they decide. */
const FIRST_PARTY_BONUS = 0.03
const PATH_ARGUMENT_MALUS = 0.04
const ASIDE_MALUS = 0.06
const PRIORITY_SPAN = 0.1
/** Each further endpoint of a service counts less: a list of one service is no choice. */
const REPEATED_SERVICE = 0.9

/** Leaves out endpoints whose sellers are not there now. */
export type KeepLiving = (found: readonly FoundEndpoint[]) => Promise<readonly FoundEndpoint[]>

/** Endpoints that are asked whether they are there, so that what is left out is replaced. */
const LIVE_MAX = 20

/** The first ones, among which equals are told apart by when their sellers last answered. */
const CONTENDERS_MAX = 2 * LIVE_MAX

/** Bonuses that move endpoints that fit as well as others. */
export type Priors = Pick<QualityPriors, 'of'>

/** Live where that is asked for and `keepLiving` is given; by quality too where `priors` are given. */
export async function search(
  app: AppDatabase,
  request: SearchRequest,
  keepLiving: KeepLiving | null = null,
  priors: Priors | null = null,
): Promise<SearchResult> {
  const { query, limit, serviceIds, withEvidence } = request
  const isRequired = serviceIds !== null && request.serviceMode !== 'prefer'
  const { words, vocabulary } = await readVocabulary(app, query)
  const slots = slotsOf(words, vocabulary)
  const numbers = await candidatesOf(app, slots, vocabulary, isRequired ? serviceIds : null)
  if (serviceIds !== null && !isRequired)
    numbers.push(...(await candidatesOf(app, slots, vocabulary, serviceIds)))
  const preferred = new Set(isRequired ? [] : serviceIds)
  const candidates = await readCandidates(app, [...new Set(numbers)])
  const all = rank(questionOf(slots), candidates, priors)
  const isPreferred = ({ candidate }: Ranked) => preferred.has(candidate.serviceId)
  const ranked = [...all.filter(isPreferred), ...all.filter((one) => !isPreferred(one))]
  const found = slots.length === 0 ? ranked : confident(ranked, isPreferred)
  const isLive = keepLiving !== null && request.resolution === 'live'
  const contenders = found.slice(0, CONTENDERS_MAX)
  const dates = await readDates(app, (withEvidence ? ranked : contenders).map(numberOf))
  const best = freshFirst(contenders, dates, isPreferred).slice(0, isLive ? LIVE_MAX : limit)
  const listed = best.flatMap((one, index) => {
    const its = dates.get(numberOf(one))
    return its ? [present(one, its, index + 1)] : []
  })
  const living = isLive ? await keepLiving(listed) : listed
  const endpoints = living.slice(0, limit).map((each, index) => ({ ...each, rank: index + 1 }))
  return {
    endpoints,
    nextTool: endpoints[0]?.nextTool ?? 'search_services',
    resolution: isLive ? 'live' : 'static',
    ...(endpoints.length === 0 && { zeroResultGuidance: guidanceOf(isRequired, serviceIds ?? []) }),
    ...(withEvidence && { internal: evidenceOf(vocabulary, ranked, dates) }),
  }
}

/**
 * Best first; each service's further endpoints come later. Ties are decided by name, so that
 * answers repeat.
 */
function rank(question: Question, candidates: readonly Candidate[], priors: Priors | null): Ranked[] {
  const ranked = candidates.map((candidate) => rankOne(question, candidate, priors)).sort(byValue)
  const before = new Map<string, number>()
  return ranked
    .map((one) => {
      const count = before.get(one.candidate.serviceId) ?? 0
      before.set(one.candidate.serviceId, count + 1)
      return { ...one, value: one.value * REPEATED_SERVICE ** count }
    })
    .sort(byValue)
}

function rankOne(question: Question, candidate: Candidate, priors: Priors | null): Ranked {
  const { document, terms, serviceId } = candidate
  const { relevance, reasons, isAside } =
    question.slots.length === 0
      ? { relevance: 0, reasons: ['catalog_default'] as const, isAside: false }
      : relevanceOf(question, terms)
  const known = knownPrice(document.estimatedPrice)
  const price = priceScore(known)
  const score = scoreOf(relevance, price)
  const value =
    score +
    (document.integration === 'first-party' ? FIRST_PARTY_BONUS : 0) -
    (/\/[:{*]/.test(document.path) ? PATH_ARGUMENT_MALUS : 0) -
    (isAside ? ASIDE_MALUS : 0) +
    (document.priority - 0.5) * PRIORITY_SPAN +
    (priors?.of(serviceId, document) ?? 0)
  return { candidate, document, relevance, price, score, reasons, value }
}

function byValue(a: Ranked, b: Ranked): number {
  if (a.value !== b.value) return b.value - a.value
  const nameOf = ({ candidate, document }: Ranked) =>
    `${candidate.serviceId} ${document.method} ${document.path}`
  return nameOf(a) < nameOf(b) ? -1 : 1
}

/** Among equals, those come first whose sellers told their price within a day. */
function freshFirst(
  found: readonly Ranked[],
  dates: ReadonlyMap<number, CandidateDates>,
  isPreferred: (one: Ranked) => boolean,
): Ranked[] {
  const placed = found.map((one, place) => ({
    one,
    place,
    isPreferred: isPreferred(one),
    isFresh: dates.get(numberOf(one))?.isFresh ?? false,
  }))
  placed.sort((a, b) => {
    const areEqual = a.one.value === b.one.value && a.isPreferred === b.isPreferred
    return (areEqual ? Number(b.isFresh) - Number(a.isFresh) : 0) || a.place - b.place
  })
  return placed.map(({ one }) => one)
}

/** A preferred endpoint is compared with its own best: a better fallback takes nothing from it. */
function confident(ranked: readonly Ranked[], isPreferred: (one: Ranked) => boolean): Ranked[] {
  const leastOf = (group: readonly Ranked[]) =>
    Math.max(RELEVANCE_MIN, RELEVANCE_TO_BEST_MIN * Math.max(0, ...group.map(({ relevance }) => relevance)))
  const [least, leastPreferred] = [leastOf(ranked), leastOf(ranked.filter(isPreferred))]
  return ranked.filter((one) => one.relevance >= (isPreferred(one) ? leastPreferred : least))
}

const numberOf = ({ candidate }: Ranked): number => candidate.endpoint

function present(
  { candidate, document, relevance, price, score, reasons }: Ranked,
  { catalogedAt, verifiedAt }: CandidateDates,
  rank: number,
): FoundEndpoint {
  const { serviceName, method, path, estimatedPrice, requiredArguments } = document
  const isReady = requiredArguments.length === 0
  const { serviceId } = candidate
  return {
    serviceId,
    serviceName,
    method,
    path,
    estimatedPrice,
    rank,
    score,
    scoreDetails: { price, relevance },
    reasons,
    requiredArguments,
    nextTool: isReady ? 'quote_plan' : 'describe_service',
    ...(isReady && {
      suggestedPlanNode: { id: serviceId, serviceId, method, path, input: {}, dependsOn: [] },
    }),
    lastCatalogedAt: catalogedAt,
    ...(verifiedAt && { lastVerifiedAt: verifiedAt }),
  }
}

function guidanceOf(isRequired: boolean, serviceIds: readonly string[]): string {
  return isRequired
    ? `Nothing of ${serviceIds.join(', ')} fits. Ask differently within the same services; keep the constraint.`
    : 'Nothing fits. Search once more with a broader intent; if that finds nothing, no listed service does this.'
}

function evidenceOf(
  vocabulary: Vocabulary & { readonly serviceCount: number },
  ranked: readonly Ranked[],
  dates: ReadonlyMap<number, CandidateDates>,
): SearchEvidence {
  const { serviceCount, endpointCount } = vocabulary
  const newest = [...dates.values()].reduce(
    (latest, { catalogedAt }) => Math.max(latest, catalogedAt.getTime()),
    0,
  )
  return { catalog: { serviceCount, endpointCount, generatedAt: new Date(newest) }, candidates: ranked }
}

/** The words of a question, and what the catalog has of them and of what they may mean. */
async function readVocabulary(app: AppDatabase, query: string) {
  const asked = readQuestion(query)
  const first = await readWords(app, wordsAskedOf(asked))
  const unknown = unknownWords(asked, first)
  if (unknown.length === 0) return { words: asked, vocabulary: first }
  const alike = await Promise.all(
    unknown.slice(0, UNKNOWN_MAX).map(async (word) => {
      const found = await findAlikeWords(app, trigramsOf(word), ALIKE_LOOKED_AT)
      return [word, found.map((each) => each.word)] as const
    }),
  )
  const words = spelled(asked, new Map(alike))
  return { words, vocabulary: await readWords(app, wordsAskedOf(words)) }
}
