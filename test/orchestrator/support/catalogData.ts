/** Services and judged questions of `test/data/catalog`; its README.md says how they were judged. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Judgement, readJudgements } from '#orchestrator/search/evaluate.ts'
import { itemsOf, membersOf } from '#primitives.ts'
import type { TestCatalog } from './catalog.ts'

const folder = join(import.meta.dirname, '../../data/catalog')
const readData = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'))

/** Services in our own format, of every domain. */
export const ownServices = (): { readonly services: readonly unknown[] } => ({
  services: globSync('services/*.json', { cwd: folder })
    .sort()
    .flatMap((name) => itemsOf(membersOf(readData(name))['services'])),
})

/** Services in the form of the mpp directory. */
export const directoryServices = (): readonly unknown[] => itemsOf(readData('directory.json'))

/** Both, as two sources. */
export async function importServices({ importAs }: TestCatalog): Promise<void> {
  for (const [sourceId, document] of [
    ['own', ownServices()],
    ['directory', directoryServices()],
  ] as const) {
    const { problems } = await importAs(sourceId, document)
    if (problems[0]) throw new Error(`${problems[0].path.join('.')}: ${problems[0].message}`)
  }
}

export interface Questions {
  readonly judged: readonly Judgement[]
  /** Those that share words with the service that answers: neither `gap` nor in another language. */
  readonly inTheirWords: readonly Judgement[]
  /** Those that say which calls would do, with `<service> <method> <path>` of each. */
  readonly ofEndpoints: readonly Judgement[]
  /** Questions that no service answers. */
  readonly negative: readonly string[]
}

export function questionsOf(name: 'judged-queries.json' | 'hold-out-queries.json'): Questions {
  const all = itemsOf(readData(name))
    .map(membersOf)
    .map(({ kind, query, relevant, endpoints }) => ({
      ...{ kind: String(kind), query: String(query), relevant },
      calls: endpoints === undefined ? null : itemsOf(endpoints).map(callOf),
    }))
  const judged = all.filter(({ kind }) => kind !== 'negative')
  const ofEndpoints = all.flatMap(({ query, calls }) => (calls ? [{ query, relevant: calls }] : []))
  return {
    judged: readJudgements(judged, name),
    inTheirWords: readJudgements(
      judged.filter(({ kind }) => !/^(gap|lang-.*)$/.test(kind)),
      name,
    ),
    ofEndpoints: readJudgements(ofEndpoints, name),
    negative: all.filter(({ kind }) => kind === 'negative').map(({ query }) => query),
  }
}

function callOf(endpoint: unknown): string {
  const { serviceId, method, path } = membersOf(endpoint)
  return `${serviceId} ${method} ${path}`
}
