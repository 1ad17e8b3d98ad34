/** HEAD, OPTIONS, other methods, caching and compression of every read. */
import type { Operation } from '../apiDocument.ts'
import { type Answer, ask, send } from '../deployment.ts'
import type { Trial } from '../trial.ts'
import { withQuery } from './answers.ts'

/** The cache classes that clients are told, by path; nothing else may be kept as anything else. */
const cacheClasses: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /^\/v1\/(blocks|transactions|receipts|transfers|transactions\/receipts|tokens\/[^/]+\/transactions|addresses\/[^/]+\/activities)$/,
    ['private, max-age=10, stale-while-revalidate=30'],
  ],
  [/^\/v1\/tokens(\/[^/]+)?$/, ['max-age=60, stale-while-revalidate=300']],
  [/\/(balances|holders)$/, ['max-age=30, stale-while-revalidate=120']],
  [/^\/(v1\/tokenlist|openapi\.json)$/, ['max-age=300, stale-while-revalidate=3600']],
  [
    /^\/v1\/(blocks|transactions|receipts)\//,
    [
      'private, max-age=86400, stale-while-revalidate=604800',
      'private, max-age=10, stale-while-revalidate=30',
      'no-store',
    ],
  ],
]

export async function checkTransport(trial: Trial, operation: Operation): Promise<void> {
  if (operation.method !== 'GET') return
  const [url] = await trial.samples.urls(operation)
  if (url === undefined) return
  const still = withQuery(url, steady(operation))
  const answer = await ask(trial, operation, still)
  checkCacheClass(trial, operation, answer)
  await checkHead(trial, operation, still)
  await checkTag(trial, operation, still)
  await checkMethods(trial, operation, url)
}

/** A query that does not change while the chain moves, if the list allows it. */
const steady = ({ parameters }: Operation): string => {
  const names = new Set(parameters.map(({ name }) => name))
  return [names.has('order') ? 'order=asc' : '', names.has('limit') ? 'limit=50' : '']
    .filter(Boolean)
    .join('&')
}

function checkCacheClass(trial: Trial, { path }: Operation, { url, status, headers }: Answer): void {
  const [, allowed] = cacheClasses.find(([pattern]) => pattern.test(path)) ?? []
  const cacheControl = headers.get('cache-control') ?? ''
  if (status !== 200 || !allowed) return
  trial.expect(allowed.includes(cacheControl), `${url} is cached as ${cacheControl}`)
}

async function checkHead(trial: Trial, operation: Operation, url: string): Promise<void> {
  const got = await ask(trial, operation, url)
  const head = await ask(trial, operation, url, { method: 'HEAD' })
  trial.expect(head.status === got.status, `HEAD ${url} answers ${head.status}, GET ${got.status}`)
  trial.expect(head.text === '', `HEAD ${url} has a body`)
  // A block may have become final between the two, and what it holds may then be kept for long.
  const after = await ask(trial, operation, url)
  for (const name of ['content-type', 'cache-control'])
    trial.expect(
      [got, after].some(({ headers }) => headers.get(name) === head.headers.get(name)),
      `HEAD ${url} has another ${name}`,
    )
}

async function checkTag(trial: Trial, operation: Operation, url: string): Promise<void> {
  const plain = { headers: { 'accept-encoding': 'identity' } }
  const first = await ask(trial, operation, url, plain)
  const tag = first.headers.get('etag')
  if (first.status !== 200) return
  if (first.headers.get('cache-control') === 'no-store') {
    return trial.expect(tag === null, `${url} is not to be stored and has an ETag`)
  }
  // A query's body tells how long it took: equal results are equivalent, not the same bytes.
  const form = operation.path === '/v1/indexer/query' ? /^W\/"[^"]+"$/ : /^"[^"]+"$/
  trial.expect(
    form.test(tag ?? ''),
    `${url} has no ${form.source.startsWith('^W') ? 'weak' : 'strong'} ETag but ${tag}`,
  )
  const again = await ask(trial, operation, url, {
    headers: { ...plain.headers, 'if-none-match': tag ?? '' },
  })
  if (again.status === 200 && again.headers.get('etag') !== tag)
    return trial.note('it changed while it was read')
  trial.expect(again.status === 304, `${url} with its own ETag answers ${again.status}`)
  trial.expect(again.text === '', `${url}: 304 has a body`)
  trial.expect(again.headers.get('ratelimit-limit') === null, `${url}: 304 is counted against a quota`)
  const packed = await ask(trial, operation, url, { headers: { 'accept-encoding': 'gzip' } })
  if (first.text.length < 4_096 || /image\//.test(first.headers.get('content-type') ?? '')) return
  trial.expect(packed.headers.get('content-encoding') === 'gzip', `${url} is not compressed`)
  trial.expect(packed.headers.get('vary')?.includes('accept-encoding') === true, `${url} does not vary`)
  trial.expect(packed.headers.get('etag') !== tag, `${url}: one ETag for two encodings`)
}

async function checkMethods(trial: Trial, operation: Operation, url: string): Promise<void> {
  const options = await send(trial.deployment, url, { method: 'OPTIONS' })
  trial.expect(options.status === 204, `OPTIONS ${url} answers ${options.status}`)
  for (const name of ['allow', 'access-control-allow-methods'])
    trial.expect(/GET, HEAD.*OPTIONS/.test(options.headers.get(name) ?? ''), `OPTIONS ${url} has no ${name}`)
  const allowed = options.headers.get('allow') ?? ''
  const other = ['DELETE', 'PATCH', 'PUT'].find((method) => !allowed.includes(method))
  if (other === undefined) return
  const refused = await ask(trial, operation, url, { method: other })
  trial.expect(refused.status === 405, `${other} ${url} answers ${refused.status}`)
  trial.expect(refused.headers.get('allow') === allowed, `${other} ${url} does not say what is allowed`)
}
