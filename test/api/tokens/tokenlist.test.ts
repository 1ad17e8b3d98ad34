// Goal: the operator's list is a token list document any wallet takes, and a token's logo is a
// picture from wherever it is.
// Method: the recorded chain behind a real server; a curated list in files, a server of pictures,
// the public schema's rules.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CuratedTokens, readCuratedTokens } from '#api/operator/curatedTokens.ts'
import { Egress } from '#egress/Egress.ts'
import { genesisTokens, readBalances } from '../../store/support/balanceOracle.ts'
import { recordedBatches } from '../../store/support/chainStore.ts'
import { followersOf, recordedCalls } from '../../store/support/followers.ts'
import { tokensAt } from '../../store/support/tokenOracle.ts'
import { type ChainApi, openChainApi } from '../support/chainApi.ts'
import { type ResponseCheck, responseCheck } from '../support/openapi.ts'
import { tokenlistProblems } from './support/tokenlistRules.ts'

const recording = 'tempo-dev-2k'
const [pathUsd = '', alphaUsd = '', betaUsd = '', thetaUsd = ''] = genesisTokens
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>'
const png = Buffer.from('89504e470d0a1a0a', 'hex')
const toBase64 = (body: Buffer) => body.toString('base64')

let api: ChainApi
let check: ResponseCheck
let pictures: Server
const fetched: string[] = []
let folder: string
let created: string[]

beforeAll(async () => {
  pictures = createServer((request, response) => {
    fetched.push(request.url ?? '')
    const [type, body] =
      request.url === '/a.png' ? ['image/png', png] : ['text/html', Buffer.from('<script>alert(1)</script>')]
    response.writeHead(request.url === '/none.png' ? 404 : 200, { 'content-type': type }).end(body)
  })
  await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve))
  const bound = pictures.address()
  const origin = `http://127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`
  folder = join(mkdtempSync(join(tmpdir(), 'tokenlist-')), 'list')
  mkdirSync(folder)
  writeFileSync(join(folder, '..', 'outside.svg'), svg)
  symlinkSync('../outside.svg', join(folder, 'link.svg'))
  writeFileSync(join(folder, 'long.svg'), svg)
  truncateSync(join(folder, 'long.svg'), 2 ** 40)
  writeFileSync(join(folder, 'key.pem'), 'secret')
  writeFileSync(join(folder, 'path.svg'), svg)
  created = [...tokensAt(recording, 122).keys()]
  const logos: Readonly<Record<string, string>> = {
    [pathUsd]: 'path.svg',
    [alphaUsd]: `${origin}/a.png`,
    [betaUsd]: `data:image/png;base64,${toBase64(png)}`,
    [thetaUsd]: `data:image/svg+xml,${encodeURIComponent(svg)}`,
    [created[0] ?? '']: `${origin}/page.html`,
    [created[1] ?? '']: 'http://10.0.0.1/a.png',
    [created[2] ?? '']: 'data:text/html,hello',
    [created[3] ?? '']: `${origin}/none.png`,
    [created[4] ?? '']: 'missing.svg',
    [created[5] ?? '']: 'long.svg',
    [created[6] ?? '']: 'link.svg',
    [created[7] ?? '']: 'key.pem',
  }
  api = await openChainApi({
    services: {
      curatedTokens: listOf(Object.entries(logos)),
      egress: new Egress({ protocols: ['http:'], ports: null, isAllowed: (ip) => ip === '127.0.0.1' }),
    },
  })
  await api.append(recordedBatches(recording, 10))
  await followersOf(api.store, {
    callContracts: recordedCalls(recording, readBalances(recording)),
  }).settle()
  check = await responseCheck(api)
})
afterAll(async () => {
  pictures.close()
  rmSync(join(folder, '..'), { recursive: true })
  await api.close()
})

/** The list as an operator writes it, for whatever chain the test has. */
function listOf(entries: readonly (readonly [string, string])[]): CuratedTokens {
  const file = join(folder, 'tokens.json')
  const tokens = [...entries, [`0x${'77'.repeat(20)}`, ''] as const].map(([token, logo]) => ({
    chainId: 1,
    address: token,
    ...(logo && { logo }),
  }))
  writeFileSync(file, JSON.stringify({ timestamp: '2026-03-01T12:00:00Z', tokens }))
  const read = readCuratedTokens('TOKENLIST', file)
  return { ...read, of: () => read.of(1), find: (_chainId, token) => read.find(1, token) }
}

describe('the curated list', () => {
  test('is a token list document by the public schema', async () => {
    const answer = await api.get('/v1/tokenlist')
    expect(answer.status).toBe(200)
    expect(check('/v1/tokenlist', answer)).toEqual([])
    expect(tokenlistProblems(answer.body)).toEqual([])
    expect(answer.headers.get('cache-control')).toBe('max-age=300, stale-while-revalidate=3600')
    const { name, timestamp, version, tokens } = answer.body
    expect({ name, timestamp, version }).toEqual({
      name: `Chain ${api.chainId}`,
      timestamp: '2026-03-01T12:00:00Z',
      version: { major: 1, minor: 0, patch: tokens.length },
    })
    const addresses: string[] = tokens.map((token: { address: string }) => token.address)
    expect(addresses.slice(0, 4)).toEqual([pathUsd, alphaUsd, betaUsd, thetaUsd])
    expect(tokens[1]).toMatchObject({ chainId: api.chainId, symbol: 'AlphaUSD', decimals: 6 })
    expect(tokens[1].logoURI).toMatch(/a\.png$/)
    expect(tokens[0]).not.toHaveProperty('logoURI')
  })

  test('a list names no file outside its folder', () => {
    for (const logo of ['/dev/zero', '../outside.svg', 'a/../../outside.svg', '..', '.'])
      expect(() => listOf([[pathUsd, logo]]), logo).toThrow(
        /^TOKENLIST: .*tokens\[0\]\.logo must be a file in the folder of the list, or a URI$/,
      )
    for (const logo of ['a/../path.svg', './path.svg', '..path.svg', 'folder/path.svg'])
      expect(listOf([[pathUsd, logo]]).of(1)[0]?.logo).toMatchObject({ folder })
  })

  test('the rules of the schema refuse what is no token list', async () => {
    const { body } = await api.get('/v1/tokenlist')
    const [token] = body.tokens
    for (const wrong of [
      { ...body, tokens: [] },
      { ...body, name: '' },
      { ...body, extra: 1 },
      { ...body, timestamp: 'yesterday' },
      { ...body, tokens: [{ ...token, decimals: 256 }] },
      { ...body, tokens: [{ ...token, symbol: 'A B' }] },
      { ...body, tokens: [{ ...token, logoURI: 'logo.png' }] },
      { ...body, version: { major: 1, minor: 0 } },
    ])
      expect(tokenlistProblems(wrong)).not.toEqual([])
  })
})

describe('logos of the curated list', () => {
  const logoOf = async (token: string) => {
    const response = await fetch(`${api.server.origin}/v1/tokens/${token}/logo`)
    const { status, headers } = response
    return { status, headers, body: Buffer.from(await response.arrayBuffer()) }
  }

  test('logos come from a file, another server, or the list itself', async () => {
    const expected: [string, string, Buffer][] = [
      [pathUsd, 'image/svg+xml', Buffer.from(svg)],
      [alphaUsd, 'image/png', png],
      [betaUsd, 'image/png', png],
      [thetaUsd, 'image/svg+xml', Buffer.from(svg)],
    ]
    for (const [token, contentType, body] of expected) {
      const logo = await logoOf(token)
      expect(logo.status, token).toBe(200)
      expect(logo.headers.get('content-type')).toBe(contentType)
      expect(logo.body.equals(body)).toBe(true)
      expect(logo.headers.get('cache-control')).toBe('public, max-age=86400, stale-while-revalidate=604800')
      expect(logo.headers.get('content-security-policy')).toContain('sandbox')
      expect(logo.headers.get('etag')).toBeTruthy()
      // Which chain is meant depends on the key, so a shared cache keeps an answer for each.
      expect(logo.headers.get('vary')).toContain('authorization, svc-api-key')
    }
  })

  test('a logo on another server is fetched once, however often it is asked for', async () => {
    for (let times = 0; times < 3; times++) expect((await logoOf(alphaUsd)).body.equals(png)).toBe(true)
    expect(fetched.filter((url) => url === '/a.png')).toHaveLength(1)
  })

  test('what is no picture, or lies where nobody may look, is no logo', async () => {
    for (const token of [...created.slice(0, 9), `0x${'12'.repeat(20)}`]) {
      const answer = await api.get(`/v1/tokens/${token}/logo`)
      expect([answer.status, answer.body.error.code], token).toEqual([404, 'token_logo_not_found'])
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
    const wrong = await api.get('/v1/tokens/pathUSD/logo')
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'token_invalid'])
    const unknown = await api.get('/v1/tokenlist?limit=5')
    expect([unknown.status, unknown.body.error.details[0].path.at(-1)]).toEqual([400, 'limit'])
  })
})
