/**
 * How good the ranking is on judged questions: how early the first accepted service comes, and how
 * often in the first 8.
 */
import { failure } from '#errors.ts'
import { itemsOf, membersOf, textOf } from '#primitives.ts'

export interface Judgement {
  readonly query: string
  /** Ids of services that a buyer would accept. */
  readonly relevant: readonly string[]
}

export interface Evaluation {
  /** Mean of 1 / rank of the first accepted service, 0 where none is in the first 8. */
  readonly mrr: number
  /** Share of questions that an accepted service is the first answer to. */
  readonly hitAt1: number
  readonly hitAt8: number
  readonly ranks: readonly {
    readonly query: string
    readonly rank: number | null
    readonly first: string | null
  }[]
}

export const EVALUATED_MAX = 8

export function readJudgements(document: unknown, location: string): Judgement[] {
  const judgements = itemsOf(document)
    .map(membersOf)
    .map(({ query, relevant }) => ({
      query: textOf(query) ?? '',
      relevant: itemsOf(relevant).filter((id): id is string => typeof id === 'string'),
    }))
  if (
    judgements.length === 0 ||
    judgements.some(({ query, relevant }) => query === '' || relevant.length === 0)
  )
    throw new JudgementsError(location)
  return judgements
}

export async function evaluate(
  judgements: readonly Judgement[],
  serviceIdsFor: (query: string) => Promise<readonly string[]>,
): Promise<Evaluation> {
  const ranks: { query: string; rank: number | null; first: string | null }[] = []
  for (const { query, relevant } of judgements) {
    const found = (await serviceIdsFor(query)).slice(0, EVALUATED_MAX)
    const index = found.findIndex((id) => relevant.includes(id))
    ranks.push({ query, rank: index === -1 ? null : index + 1, first: found[0] ?? null })
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / ranks.length
  return {
    mrr: mean(ranks.map(({ rank }) => (rank === null ? 0 : 1 / rank))),
    hitAt1: mean(ranks.map(({ rank }) => (rank === 1 ? 1 : 0))),
    hitAt8: mean(ranks.map(({ rank }) => (rank === null ? 0 : 1))),
    ranks,
  }
}

/** The file with judged questions has another form. */
export class JudgementsError extends failure('JudgementsError', 'judgements_invalid', 'stop') {
  constructor(location: string) {
    super(`${location}: expected an array of {"query": text, "relevant": [service ids]}`)
  }
}
