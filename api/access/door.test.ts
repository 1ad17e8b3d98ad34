import { expect, test } from 'vitest'
import { isFromForeignPage, refusalAtDoor } from './door.ts'

test('requests of this machine come in', () => {
  for (const host of [
    'localhost',
    'localhost:8080',
    'LOCALHOST:8080',
    '127.0.0.1:8080',
    '127.1.2.3',
    '[::1]:80',
    'app.localhost',
    undefined,
  ])
    expect(refusalAtDoor({ host }), host ?? 'no host').toBeUndefined()
})

test('what came through a proxy, or names another host, is refused with the settings that open it', () => {
  const foreign = [
    'example.com',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '10.0.0.1:8080',
    '[::2]',
    'xlocalhost',
    '',
  ]
  for (const host of foreign) expect(refusalAtDoor({ host })?.code, host).toBe('forbidden')
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto'])
    expect(refusalAtDoor({ host: 'localhost', [name]: 'x' })?.message, name).toMatch(
      /PUBLIC_URL.*TRUSTED_PROXIES.*ACCESS=open/,
    )
})

test('a page of another site is told from a page of ours and from a program', () => {
  const host = 'localhost:8080'
  for (const own of [
    {},
    { origin: `http://${host}` },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])
    expect(isFromForeignPage({ host, ...own })).toBe(false)
  for (const foreign of [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])
    expect(isFromForeignPage({ host, ...foreign })).toBe(true)
})
