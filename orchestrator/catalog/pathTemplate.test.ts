// Goal (PAY-09): a path of a plan calls what it was matched with, and nothing beside the service's
// own prefix.
import { describe, expect, it } from 'vitest'
import { matchPath, PathError, parametersOf, parsePath, parseTemplate, urlOf } from './pathTemplate.ts'

const templates = [
  ...['/v1/things', '/v1/things/:id', '/v1/things/latest', '/v1/:kind/latest', '/files/*', '/files/list'],
  ...['/air/:rest*', '/places/v1/places:searchText', '/users/{user_id}/posts', '/trailing/'],
].map((text) => ({ text, template: parseTemplate(text) }))
const templateOf = (path: string) => matchPath(parsePath(path), templates)?.text

/**
 * Ways to climb, to leave, to smuggle a second URL, and to be read differently by the next server.
 */
const climbs = ['..', '.', '%2e%2e', '%2E%2e', '.%2e', '%2e', '%252e%252e', '%252E', '%25%32%65']
const slashes = ['%2f', '%2F', '%5c', '%5C', '%252f', '%255c', 'a%2fb', '..%2f', '%2e%2e%2f', '..%5c..']
const controls = [
  '%00',
  '%0a',
  '%0d%0a',
  '%09',
  '%7f',
  '%c2%85',
  '%2500',
  '%250a',
  '%e2%80%ae',
  '%e2%80%8b',
  '%ef%bb%bf',
]
const broken = ['%', '%2', '%zz', '%c0%af', '%c1%9c', '%ff', '%e0%80%af', '%ed%a0%80', '%u002e']
const placeholders = [':id', ':rest*', '{id}', '{id}.json', 'a{b}', '*', '%3Aid', '%7Bid%7D', '%2a']
const attacks = [
  ...[...climbs, ...slashes, ...controls, ...broken, ...placeholders].flatMap((segment) => [
    `/v1/things/${segment}`,
    `/files/${segment}/x`,
  ]),
  ...['', 'v1/things', '//evil.example/v1', '//v1/things', '/v1//things', '/v1/things?x=1', '/v1/things#x'],
  ...[
    '/v1\\things',
    '\\\\evil',
    'https://evil.example/',
    '/files//',
    '/v1/things/..;/admin%2f',
    'javascript:x',
  ],
]

describe('a concrete path', () => {
  it(`is none of ${attacks.length} attacks`, () => {
    expect(attacks.length).toBeGreaterThanOrEqual(100)
    const taken = attacks.filter((path) => {
      try {
        parsePath(path)
        return true
      } catch (error) {
        if (error instanceof PathError) return false
        throw error
      }
    })
    expect(taken).toEqual([])
  })

  it.each([
    ['/v1/things', '/v1/things'],
    ['/v1/things/7', '/v1/things/:id'],
    ['/v1/things/latest', '/v1/things/latest'],
    ['/v1/others/latest', '/v1/:kind/latest'],
    ['/v1/things/%6Catest', '/v1/things/latest'],
    ['/files/a/b/c', '/files/*'],
    ['/files/list', '/files/list'],
    ['/air/LHR/JFK', '/air/:rest*'],
    ['/places/v1/places:searchText', '/places/v1/places:searchText'],
    ['/users/x%20y/posts', '/users/{user_id}/posts'],
    ['/trailing/', '/trailing/'],
    ['/trailing', undefined],
    ['/v1/things/', undefined],
    ['/files/', undefined],
    ['/files', undefined],
    ['/v2/things', undefined],
  ])('%s is %s', (path, text) => expect(templateOf(path)).toBe(text))

  it('stays below the prefix of its service', () => {
    expect(urlOf('https://gate.example/shop', parsePath('/v1/a b'.replace(' ', '%20'))).href).toBe(
      'https://gate.example/shop/v1/a%20b',
    )
    expect(urlOf('https://gate.example/shop/', parsePath('/run:now@1')).href).toBe(
      'https://gate.example/shop/run:now@1',
    )
  })

  it('leaves no service, whatever its segments are', () => {
    for (const segments of [['..'], ['.', 'x'], ['a', '..', '..', 'b']])
      expect(() => urlOf('https://gate.example/shop', segments)).toThrow(PathError)
    for (const segment of ['\\', '//evil.example', '?x', '#x', '%2e%2e', 'a/b', '\u0000'])
      expect(urlOf('https://gate.example/shop', [segment]).href).toMatch(
        /^https:\/\/gate\.example\/shop\/[^/?#\\]*$/,
      )
  })
})

describe('a template', () => {
  it('names what is filled in', () => {
    expect(parametersOf(parseTemplate('/a/:b/{c}/:d*'))).toEqual(['b', 'c', 'd'])
  })

  it.each(['/a/*/b', '/a/:b*/c', '/a/{b', '/a/x{b}', 'a', '//a', '/a//b'])('%s is none', (text) =>
    expect(() => parseTemplate(text)).toThrow(PathError),
  )
})
