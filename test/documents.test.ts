// Goal: what the pages say of files, words and releases is so, and the first two stay short.
// Method: read them as text, and compare with the files and the words of the code.
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '#package.json' with { type: 'json' }
import { settings } from '#program/settings/table.ts'
import { installed, versionOf } from './program/support/recipes.ts'
import { files, manuals, pages, quoted, withoutBlocks, wrongIn } from './support/pages.ts'
import { glob, read, root } from './support/projectFiles.ts'

const decisions = manuals.filter((file) => file.startsWith('docs/decisions/'))
const code = files
  .filter((file) => /\.(ts|mjs|sql)$/.test(file) && !file.startsWith('test/documents'))
  .map(read)
  .join('\n')

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length

describe('length', () => {
  test('README has at most 900 words, ARCHITECTURE 3,000, a page of decisions 900', () => {
    expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(900)
    expect(wordsOf(read('ARCHITECTURE.md'))).toBeLessThanOrEqual(3_000)
    expect(decisions.filter((file) => wordsOf(read(file)) > 900)).toEqual([])
  })
})

test('ARCHITECTURE.md names each area of the rows of the service', () => {
  const [, content = ''] = read('ARCHITECTURE.md').match(/^\| `rows` \| (.+?) \|/m) ?? []
  const areas = new Set(glob('rows/*/*.ts').map((file) => file.split('/')[1] ?? ''))
  areas.delete('schema')
  expect([...areas].filter((area) => !content.includes(area))).toEqual([])
})

describe('decisions', () => {
  const told = decisions.flatMap((file) =>
    read(file)
      .split(/^## /m)
      .slice(1)
      .map((text) => ({ title: text.split('\n')[0], text })),
  )

  test('each page is about a room, and ARCHITECTURE.md links to it', () => {
    const page = read('ARCHITECTURE.md')
    const unknown = decisions.filter((file) => {
      const room = file.replace(/^.*\/(\w+)\.md$/, '$1')
      return !page.includes(`\n| \`${room}\` | `) || !page.includes(`[${room}](${file})`)
    })
    expect(unknown).toEqual([])
  })

  test('each says what, why and its cost, in at most eight sentences', () => {
    expect(told.length).toBeGreaterThan(25)
    const parts = /^.+\n\n\*\*What\.\*\* .+?\n\n\*\*Why\.\*\* .+?\n\n\*\*Cost\.\*\* .+$/s
    expect(told.filter(({ text }) => !parts.test(text.trim())).map(({ title }) => title)).toEqual([])
    const sentences = (text: string) =>
      text.replaceAll(/\*\*\w+\.\*\*/g, '').match(/[.?!](?=\s+[A-Z`]|\s*$)/g)?.length ?? 0
    expect(told.filter(({ text }) => sentences(text) > 8).map(({ title }) => title)).toEqual([])
  })
})

describe('names', () => {
  test('links lead to pages and headings that exist', () => {
    const wrong = wrongIn([...pages, 'bench/README.md', 'test/README.md'], (page, file) =>
      [...page.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? file : normalize(join(dirname(file), path))
        if (!files.includes(target)) return [link]
        return anchor === undefined || headingsOf(read(target)).includes(anchor) ? [] : [link]
      }),
    )
    expect(wrong).toEqual([])
  })

  test('files and folders that pages name exist', () => {
    const missing = wrongIn(
      pages.filter((page) => page !== 'CHANGELOG.md'),
      (page) =>
        quoted(page)
          .filter((name) => /^(?:[\w.-]+\/)+[\w.<>*-]*$|^[\w-]+(?:\.\w+)*\.(?:ts|mjs|sql|md)$/.test(name))
          // Methods of the extension of MCP are no paths.
          .filter((name) => !/^(\.\.|DATA_DIR|tasks|io\.modelcontextprotocol)\//.test(name) && !exists(name)),
    )
    expect(missing).toEqual([])
  })

  test('words of code that manuals name are words of the code', () => {
    // Names of viem, pyarrow, Solidity, and of an example's contract.
    const others = ['tempoLocalnet', 'read_next_batch_with_custom_metadata', 'bytesN', 'shop_restocked']
    const known = new Set([...(code.match(/[A-Za-z_]\w*/g) ?? []), ...others])
    const unknown = wrongIn(manuals, (page) =>
      quoted(page).filter((name) => /^[a-z]+(_[a-z0-9]+|[A-Z]\w*)+$/.test(name) && !known.has(name)),
    )
    expect(unknown).toEqual([])
  })

  test('metrics that pages name are measured', () => {
    const unmeasured = wrongIn(manuals, (page) =>
      [...page.matchAll(/\bmillrace_[a-z_]+/g)]
        .map(([name]) => name.replace(/_(count|bucket|sum)$/, ''))
        .filter(
          (name) => !code.includes(`'${name}'`) && !code.includes(`'${name.replace('millrace_', '')}'`),
        ),
    )
    expect(unmeasured).toEqual([])
  })

  test('variables of the environment are settings, or of the tools that the page is about', () => {
    const payers = ['PAYER_KEY', 'PAYER_RPC', 'MPPX_PRIVATE_KEY', 'MPPX_RPC_URL']
    const others = new Set(['SVC_API_KEY', 'TEST_CONTAINERS', 'CAP_SYS_NICE', ...payers])
    const known = (name: string) => Object.hasOwn(settings, name) || others.has(name)
    const slips = new Set(['RPC_URLS', 'MILLRACE_RPC_URL'])
    const unknown = wrongIn([...manuals, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'], (page) =>
      [...new Set(page.match(/(?<![\w-])[A-Z]+(?:_[A-Z]+)+(?![\w-])/g))].filter(
        (name) => !known(name) && !slips.has(name),
      ),
    )
    expect(unknown).toEqual([])
  })
})

test('packages that payers are told to install are those that the tests pay with', () => {
  const told = Object.fromEntries(installed.map((each) => each.split(/(?<=.)@/)))
  expect(told).toEqual(Object.fromEntries(Object.keys(told).map((name) => [name, versionOf(name)])))
  expect(Object.keys(told)).toEqual(expect.arrayContaining(['mppx', 'viem', '@x402/fetch']))
})

test('the newest release is the version of the package', () => {
  const releases = [...read('CHANGELOG.md').matchAll(/^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$/gm)]
  expect(releases.map(([, name]) => name)).toEqual(['Unreleased', manifest.version, '0.2.0', '0.1.0'])
  // Releases stand newest first, each with its date if one was written.
  const dates = releases.flatMap(([, , date]) => date ?? [])
  expect(dates).toEqual(dates.toSorted().toReversed())
  expect(read('CHANGELOG.md')).toContain(`## ${manifest.version} (${dates[0]})\n\n### Before you update\n`)
  const lock = JSON.parse(read('package-lock.json'))
  expect([lock.version, lock.packages[''].version]).toEqual([manifest.version, manifest.version])
})

/** Anchors of a page, as they are made of its headings. */
function headingsOf(page: string): string[] {
  return [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** Whether a name, with `<name>` for any part, is that of a file or folder, whole or from some folder on. */
function exists(name: string): boolean {
  if (existsSync(join(root, name))) return true
  const pattern = name.replaceAll(/[.]/g, '\\.').replaceAll(/<\w+>|\*/g, '[^/]+')
  const end = name.endsWith('/') ? '' : '(?:\\.ts|/.*)?$'
  return files.some((file) => new RegExp(`(?:^|/)${pattern}${end}`).test(file))
}
