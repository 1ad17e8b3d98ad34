// Goal: anybody can check an answer offline by a command, and its exit code says what came of it.
// Method: mainnet's own certificate under the key that is compiled in, as a file and from a server;
// changed, of another chain, under another key, and what cannot be read.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { mainnetAnswer } from '../../support/finalityAnswer.ts'
import { signingNetwork } from '../../support/signedFinality.ts'
import { runMillrace } from '../support/millrace.ts'

const folder = mkdtempSync(join(tmpdir(), 'finality-'))
afterAll(() => rmSync(folder, { recursive: true }))
const answer = mainnetAnswer()
const file = (name: string, content: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const prove = (...args: string[]) => runMillrace(['prove', 'finality', ...args], { DATA_DIR: folder })
const good = file('good.json', answer)

test('a block of mainnet is proved by the key that is compiled in', async () => {
  const { code, stdout } = await prove(good, '--chain', '4217')
  expect(stdout).toContain(`block        ${answer.number} of chain 4217, ${answer.hash}`)
  expect(stdout).toContain('The block is final.')
  expect(code).toBe(0)
  const told = await prove(good, '--json')
  expect(JSON.parse(told.stdout)).toEqual({
    ...{ holds: true, chainId: 4217, number: answer.number, hash: answer.hash, problem: null },
  })
})

test('so it is where it is served, and what is not found there is no proof', async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/v1/blocks/1?include=finality' ? 200 : 404
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const origin = `http://127.0.0.1:${port}/v1/blocks`
  expect(await prove(`${origin}/1?include=finality`)).toMatchObject({ code: 0 })
  expect(await prove(`${origin}/2?include=finality`)).toMatchObject({
    stderr: expect.stringContaining('file: it cannot be read (HTTP 404)'),
  })
  server.close()
})

test('the first that is wrong is named, and the command ends with 1', async () => {
  const changed = JSON.stringify(answer).replace(/("certificate":"0x[0-9a-f]{40})./, '$10')
  expect(await prove(file('changed.json', changed))).toEqual({
    ...{ code: 1, signal: null, stderr: '' },
    stdout: expect.stringMatching(/^WRONG {2}finality\.proof\.certificate: .*\n$/),
  })
  expect(await prove(good, '--chain', '42431')).toMatchObject({
    ...{ code: 1, stdout: 'WRONG  finality.proof.chainId: is 4217, not 42431\n' },
  })
  expect(await prove(good, '--identity', anyKey, '--from-epoch', '1500', '--chain', '4217')).toMatchObject({
    ...{ code: 1, stdout: expect.stringContaining('not signed by the key of epoch 1514') },
  })
  expect(await prove(file('other.json', '{}'))).toMatchObject({ code: 1 })
})

const anyKey = signingNetwork(`0x${'06'.repeat(32)}`).key

test.each([
  [['missing.json'], 'file: it cannot be read'],
  [[good, '--identity', '0x00', '--from-epoch', '0'], 'identity: is no key'],
  [[good, '--identity', anyKey, '--from-epoch', '0'], 'chain: is needed beside `identity`'],
  [[good, '--from-epoch', '0'], 'identity: goes with the other'],
  [[good, '--chain', 'x'], 'chain: is no whole number'],
] as const)('%j is refused with what is wrong', async (args, told) => {
  const { code, stderr } = await prove(...args)
  expect(stderr).toContain(told)
  expect(code).not.toBe(0)
})
