/** Every filter lets through what it names and holds back the rest. */
import { type DocumentedParameter, type Json, type Operation, parameterOf } from '../apiDocument.ts'
import { ask } from '../deployment.ts'
import { read } from '../samples.ts'
import type { Trial } from '../trial.ts'
import { withQuery } from './answers.ts'

/** The fields in which a row shows what a filter is about; several if any of them may match. */
const equalities: Readonly<Record<string, readonly string[]>> = {
  address: ['sender', 'recipient'],
  sender: ['sender'],
  recipient: ['recipient'],
  feePayer: ['feePayer', 'meta.rpc.feePayer', 'meta.receipt.feePayer'],
  feeToken: ['feeToken', 'meta.receipt.feeToken'],
  status: ['status', 'meta.receipt.status'],
  token: ['sourceToken.address', 'token.address', 'token', 'address'],
  addresses: ['address'],
  currency: ['currency', 'token.currency'],
  verified: ['verified', 'token.verified'],
  feeEligible: ['feeEligible'],
  type: ['type'],
  base: ['pair.base.address'],
  // Makers stand in the fills of a swap.
  maker: ['maker', 'fills.maker'],
  taker: ['taker'],
  participant: ['taker', 'fills.maker'],
  side: ['side'],
  state: ['state'],
  transactionHash: ['transactionHash'],
  userToken: ['userToken.address'],
  validatorToken: ['validatorToken.address'],
}

const bounds: Readonly<Record<string, readonly string[]>> = {
  blockNumber: ['blockNumber', 'number'],
  timestamp: ['timestamp', 'filledAt'],
}

/** Parameters that are no filters. */
const others = new Set([
  'cursor',
  'page',
  'limit',
  'order',
  'include',
  'chainId',
  'minBlock',
  'atBlock',
  'sort',
])
/** An account that nobody has the key of. */
const nobody = `0x${'de'.repeat(19)}01`
const rowsMax = 200

export async function checkFilters(trial: Trial, operation: Operation): Promise<void> {
  const filters = operation.parameters.filter(({ name, in: place }) => place === 'query' && !others.has(name))
  const [url] = await trial.samples.urls(operation)
  if (filters.length === 0 || url === undefined) return
  const shown = withQuery(url, includeOf(operation))
  const newest = await rowsAt(trial, operation, shown)
  const oldest = parameterOf(operation, 'order')
    ? await rowsAt(trial, operation, withQuery(shown, 'order=asc'))
    : []
  const rows = [...newest, ...oldest]
  for (const filter of filters) {
    const [base = '', end] = filter.name.split('.')
    if (end === undefined) await checkEquality(trial, operation, url, rows, filter)
    else await checkBound(trial, operation, url, rows, base, end)
  }
}

async function checkEquality(
  trial: Trial,
  operation: Operation,
  url: string,
  rows: readonly Json[],
  { name, schema }: Pick<DocumentedParameter, 'name' | 'schema'>,
): Promise<void> {
  const fields = equalities[name]
  if (!fields) return checkSwitch(trial, operation, url, { name, schema })
  const valuesOf = (row: Json) => (name === 'feePayer' ? payersOf(row, fields) : fieldValues(row, fields))
  // A currency is what the operator vouches for: of other tokens it is what their makers say.
  const named = name === 'currency' ? rows.filter((row) => row.verified ?? row.token?.verified) : rows
  const known = [...new Set(named.flatMap(valuesOf))]
  const value = known.find((candidate) => rows.some((row) => !valuesOf(row).includes(candidate))) ?? known[0]
  if (value === undefined) return trial.note(`no row has a value for the filter ${name}`)
  const asked = name === 'status' ? value.replace('succeeded', 'success') : value
  const query = [`${name}=${encodeURIComponent(asked)}`, includeOf(operation)].filter(Boolean).join('&')
  const found = await rowsAt(trial, operation, withQuery(url, query))
  trial.expect(found.length > 0, `${url}: ${name}=${asked} finds nothing`)
  trial.expect(
    found.every(
      (row) => valuesOf(row).includes(value) || (name === 'feePayer' && valuesOf(row).length === 0),
    ),
    `${url}: ${name}=${asked} lets others through`,
  )
  if (rows.every((row) => valuesOf(row).includes(value))) trial.note(`every row has ${name}=${asked}`)
  // A token without a pair is refused.
  if (schema.pattern?.includes('{40}') && name !== 'base') {
    const none = await rowsAt(trial, operation, withQuery(url, `${name}=${nobody}`))
    trial.expect(none.length === 0, `${url}: ${name} of nobody finds rows`)
  }
}

/** A switch that changes how rows are shown, not which. */
async function checkSwitch(
  trial: Trial,
  operation: Operation,
  url: string,
  { name, schema }: Pick<DocumentedParameter, 'name' | 'schema'>,
): Promise<void> {
  if (schema.type !== 'boolean') return trial.note(`no rule is known for the filter ${name}`)
  for (const value of ['true', 'false']) await rowsAt(trial, operation, withQuery(url, `${name}=${value}`))
}

async function checkBound(
  trial: Trial,
  operation: Operation,
  url: string,
  rows: readonly Json[],
  base: string,
  end: string,
): Promise<void> {
  const fields = bounds[base]
  if (!fields) return trial.note(`no rule is known for the filter ${base}.${end}`)
  const placeOf = (row: Json) => placeIn(fieldValues(row, fields)[0] ?? '')
  const texts = new Map(rows.map((row) => [placeOf(row), fieldValues(row, fields)[0] ?? '']))
  const places = [...texts.keys()].sort((a, b) => a - b)
  // With two places or more there is one outside of either bound.
  const place = places[Math.floor((end === 'from' ? places.length : places.length - 1) / 2)]
  if (place === undefined) return trial.note(`no row to try ${base}.${end} on`)
  const text = texts.get(place) ?? ''
  const found = await rowsAt(trial, operation, withQuery(url, `${base}.${end}=${encodeURIComponent(text)}`))
  const inside = (row: Json) =>
    end === 'from' ? placeOf(row) >= placeIn(text) : placeOf(row) <= placeIn(text)
  trial.expect(found.every(inside), `${url}: ${base}.${end}=${text} lets others through`)
  trial.expect(
    found.length === rowsMax || found.some((row) => placeOf(row) === place),
    `${url}: ${base}.${end}=${text} leaves its own bound out`,
  )
  if (rows.every(inside)) trial.note(`every row is inside ${base}.${end}=${text}`)
}

const placeIn = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Date.parse(text))

const fieldValues = (row: Json, fields: readonly string[]): string[] =>
  fields.flatMap((field) => {
    const values = [read(row, field)].flat()
    return values.flatMap((value) =>
      value === undefined || value === null || typeof value === 'object' ? [] : [`${value}`],
    )
  })

/**
 * The payer is the sender, where nobody else has signed for it; who that was, only a receipt tells.
 */
function payersOf(row: Json, fields: readonly string[]): string[] {
  const shown = fieldValues(row, fields)
  const isSponsored = (read(row, 'meta.rpc.feePayerSignature') ?? null) !== null
  return shown.length > 0 || isSponsored ? shown : fieldValues(row, ['sender'])
}

/** Transactions show their outcome with their receipt. */
const includeOf = (operation: Operation): string =>
  operation.parameters.some(
    ({ name, schema }) => name === 'include' && schema.items?.enum?.includes('receipt'),
  )
    ? 'include=receipt'
    : ''

async function rowsAt(trial: Trial, operation: Operation, url: string): Promise<readonly Json[]> {
  // Tokens named one by one are answered whole: a limit beside them is refused.
  const whole = /[?&]addresses=/.test(url) ? url : withQuery(url, `limit=${rowsMax}`)
  const { status, body } = await ask(trial, operation, whole)
  trial.expect(status === 200, `${url} answers ${status}`)
  return body?.data ?? []
}
