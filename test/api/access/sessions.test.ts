// Goal: sessions of people who signed in (API-04): a cookie that only our pages use, and its end.
// Method: as in signIn.test.ts.
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { removePastSessions } from '#rows/access/sessions.ts'
import {
  app,
  ask,
  clock,
  known,
  me,
  origin,
  plain,
  postgres,
  serve,
  server,
  signIn,
} from '../support/signInServer.ts'

describe('sessions (API-04)', () => {
  const begin = async (headers: Record<string, string> = {}) => {
    const { status, cookie } = await signIn(plain, { returnToken: undefined }, headers)
    expect(status).toBe(200)
    return cookie ?? ''
  }
  const sent = (cookie: string) => ({ cookie: cookie.split(';')[0] ?? '' })

  test('the cookie is kept from scripts, other sites and plain HTTP', async () => {
    const cookie = await begin()
    expect(cookie).toMatch(/^accounts_auth=svc_session_[0-9A-Za-z]{46}; /)
    expect(cookie.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=86400',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ])
    expect((await ask('/v1/me', null, sent(cookie))).status).toBe(200)
  })

  test('a token in the body sets no cookie, and the table holds neither', async () => {
    const { token = '', cookie } = await signIn(plain)
    expect(cookie).toBeNull()
    const { rows } = await postgres.pool.query<{ row: string }>('SELECT s::text AS row FROM app.sessions s')
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter(({ row }) => row.includes(token.slice(12)))).toEqual([])
  })

  test('signing in again gives another id and ends the session before', async () => {
    const first = await begin()
    const second = await begin({ ...sent(first), origin })
    expect(second).not.toBe(first)
    expect((await ask('/v1/me', null, sent(first))).status).toBe(401)
    expect((await ask('/v1/me', null, sent(second))).status).toBe(200)
  })

  test('with a cookie, what changes something comes from our own pages', async () => {
    const cookie = sent(await begin())
    const make = (headers: Record<string, string>) =>
      ask('/v1/orgs', { name: 'O' }, { ...cookie, ...headers })
    for (const other of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${origin}.evil.example` },
    ])
      expect(await make(other), JSON.stringify(other)).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await make({ origin })).status).toBe(200)
    expect(
      (await ask('/v1/me', null, { ...cookie, origin: 'https://evil.example' })).headers.get(
        'access-control-allow-credentials',
      ),
    ).toBeNull()
  })

  test('a page of another site signs nobody in or out', async () => {
    const { token = '' } = await signIn(plain)
    const elsewhere = { origin: 'https://evil.example' }
    expect(await signIn(plain, { returnToken: undefined }, elsewhere)).toMatchObject({
      status: 403,
      cookie: null,
    })
    const cookie = { cookie: `accounts_auth=${token}` }
    expect((await ask('/v1/auth/siwe/logout', {}, { ...cookie, ...elsewhere })).status).toBe(403)
    expect(await me(token)).toBe(200)
  })

  test('signing out ends it here at once and in every process within a second', async () => {
    const other = await serve()
    const cookie = sent(await begin())
    for (const at of [server, other]) expect((await ask('/v1/me', null, cookie, at)).status).toBe(200)
    const out = await ask('/v1/auth/siwe/logout', {}, { ...cookie, origin })
    expect([out.status, out.cookie]).toEqual([
      204,
      'accounts_auth=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
    ])
    expect((await ask('/v1/me', null, cookie)).status).toBe(401)
    await clock.sleep(1_000)
    expect((await ask('/v1/me', null, cookie, other)).status).toBe(401)
  })

  test('it ends after a day, and its row is removed', async () => {
    const { token = '' } = await signIn(plain)
    await postgres.pool.query("UPDATE app.sessions SET expires_at = now() - interval '1 second'")
    await postgres.pool.query("UPDATE app.used_nonces SET used_at = now() - interval '2 days'")
    expect(await me(token)).toBe(401)
    await removePastSessions(app)
    const { rows } = await postgres.pool.query(
      'SELECT FROM app.sessions UNION ALL SELECT FROM app.used_nonces',
    )
    expect(rows).toEqual([])
  })

  test('a person has fifty at most: the oldest goes', async () => {
    const wallet = await known(privateKeyToAccount(generatePrivateKey()))
    const tokens: string[] = []
    for (let count = 0; count < 51; count++) tokens.push((await signIn(wallet)).token ?? '')
    expect([await me(tokens[0] ?? ''), await me(tokens[1] ?? ''), await me(tokens[50] ?? '')]).toEqual([
      401, 200, 200,
    ])
  })
})
