// Goal: a command sends what it says, whatever stands in a plan or a comment, and asks for its price.
// Method: a shell runs each with a curl and an npx that write down what they are given.
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { buyCommand, cancelCommand, retryCommand, reviewCommand } from './commands.ts'
import type { JobRun } from './job.ts'

const origin = 'http://127.0.0.1:8080/under/'
const id = '0d9c1f3e-5a7b-4c2d-8e9f-0123456789ab'

/** The arguments of each curl, the body, and what was printed. */
async function ran(command: string, answer: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'millrace-command-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const script = (name: string, text: string) => {
    writeFileSync(join(cwd, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(cwd, name), 0o755)
  }
  writeFileSync(join(cwd, 'payer.key'), '0xkey\n')
  writeFileSync(join(cwd, 'answer'), answer)
  const asked = `printf '%s\\n' "$@" >> asked; printf '==\\n' >> asked`
  script(
    'curl',
    `${asked}\nprintf 'WWW-Authenticate: Payment id="1"\\r\\n' > head.txt\ncase "$*" in *authorization*) cat answer ;; esac`,
  )
  script(
    'npx',
    `[ "$*" = 'mppx sign --challenge Payment id="1"' ] && [ "$MPPX_PRIVATE_KEY" = 0xkey ] && echo signed`,
  )
  const env = { PATH: [cwd, process.env['PATH']].join(delimiter), RPC_URL: 'http://node' }
  const { stdout } = await promisify(execFile)('bash', ['-ec', command], { cwd, env })
  const calls = readFileSync(join(cwd, 'asked'), 'utf8').split('==\n').slice(0, -1)
  return { stdout: stdout.trim(), calls, body: readFileSync(join(cwd, 'body.json'), 'utf8') }
}

test('a plan is bought as it was written, at its price, and its link is printed', async () => {
  const plan = `{"nodes": [{"id": "it's \\"$HOME\\" \`ls\`", "input": 12345678901234567890}]}`
  const { stdout, calls, body } = await ran(
    buyCommand(origin, plan, '0.0631', 'a-key-of-my-own'),
    `{"jobId":"${id}","ready":false}`,
  )
  expect(body).toBe(`{"idempotencyKey": "a-key-of-my-own", "max_spend": "0.0631", "plan": ${plan}}\n`)
  expect(calls).toHaveLength(2)
  for (const call of calls) expect(call).toContain(`@body.json\n${origin}v1/jobs\n`)
  expect(calls[1]).toContain('authorization: signed\n')
  expect(stdout).toBe(`${origin}#view=job&job=${id}`)
})

test('a refusal is printed as it is', async () => {
  const refusal = '{"error":{"code":"spend_limit_exceeded"}}'
  expect((await ran(retryCommand(origin, id, '0.05', 'key-of-retry'), refusal)).stdout).toBe(refusal)
})

test('ending and reviewing name the job, and a review is sent as its payer’s', async () => {
  const ended = await ran(cancelCommand(origin, id), '{"ready":true}')
  expect([ended.body, ended.stdout]).toEqual(['{}\n', '{"ready":true}'])
  expect(ended.calls[1]).toContain(`${origin}v1/jobs/${id}/cancel\n`)
  const run = (nodeId: string, more: Partial<JobRun> = {}): JobRun => ({
    ...{ nodeId, serviceId: 's', method: 'GET', path: '/', state: 'succeeded', carried: false, quoted: '0' },
    attempts: [{ attempt: 1 }],
    ...more,
  })
  const runs = [run('a'), run('kept', { carried: true }), run('skipped', { attempts: [] })]
  const review = await ran(reviewCommand(origin, id, { rating: 4, comment: " it's $5 " }, runs), '{}')
  expect(JSON.parse(review.body)).toEqual({
    rating: 4,
    comment: "it's $5",
    tools: [{ nodeId: 'a', rating: 4 }],
  })
  for (const call of review.calls) expect(call).toContain('accept-payment: tempo/charge\n')
})
