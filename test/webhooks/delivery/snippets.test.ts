// Goal: the verifiers of docs/webhooks.md accept what is sent, and nothing else (WH-01).
// Method: the three snippets as the page has them, each run by its own language.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { newSecret, signatureHeaders } from '#webhooks/signature.ts'

const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')
const snippet = (language: string) =>
  page.match(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``))?.[1] ?? ''

const secret = newSecret()
const body = '{"id":"evt_1","data":{"text":"a\\"ü"}}'
const nowSeconds = Math.floor(Date.now() / 1_000)
const headerAt = (seconds: number) =>
  signatureHeaders({ id: 'evt_1', timestampSeconds: seconds, body }, [newSecret(), secret])[
    'svc-signature'
  ] ?? ''

const asked = [
  { header: headerAt(nowSeconds), body, expected: true },
  { header: headerAt(nowSeconds - 240), body, expected: true },
  { header: headerAt(nowSeconds - 900), body, expected: false },
  { header: headerAt(nowSeconds + 900), body, expected: false },
  { header: headerAt(nowSeconds), body: `${body} `, expected: false },
] as const

const run = (command: string, args: readonly string[]) =>
  execFileSync(command, args, { encoding: 'utf8', env: { ...process.env, SECRET: secret } }).trim()

const languages: Readonly<Record<string, (header: string, text: string) => boolean>> = {
  js: (header, text) => {
    const script = `${snippet('js').replace('export function', 'function')}
      console.log(verify(process.env.SECRET, process.argv[1], process.argv[2]))`
    return run(process.execPath, ['--input-type=module', '-e', script, '--', header, text]) === 'true'
  },
  python: (header, text) => {
    const script = `${snippet('python')}\nimport os, sys\nprint(verify(os.environ["SECRET"], sys.argv[1], sys.argv[2]))`
    return run('python3', ['-c', script, header, text]) === 'True'
  },
  sh: (header, text) => {
    const script = `${snippet('sh')}\nverify "$SECRET" "$1" "$2" && echo yes || echo no`
    return run('sh', ['-c', script, 'verify', header, text]) === 'yes'
  },
}

for (const [language, verifies] of Object.entries(languages))
  test(`the verifier in ${language} accepts our signatures alone, within 300 seconds`, () => {
    for (const { header, body: text, expected } of asked) expect(verifies(header, text)).toBe(expected)
  })
