// Goal: the payment library's own validator has nothing to refuse at any operation that is sold.
// Method: `mppx validate` as it is, with the wallet of its configuration file, on the program on its
// dev chain.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createPublicClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { Abis, Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../../blackbox/apiDocument.ts'
import {
  blockProjected,
  freshDataDir,
  type RunningMillrace,
  startMillrace,
  until,
} from '../support/millrace.ts'
import { openPayersFolder, type PayersFolder } from '../support/recipes.ts'

const dataDir = freshDataDir()
const main = join(import.meta.dirname, '../../../main.ts')
let program: RunningMillrace
let folder: PayersFolder
let document: Json
beforeAll(async () => {
  const accessFile = join(mkdtempSync(join(tmpdir(), 'millrace-access-')), 'access.json')
  writeFileSync(accessFile, JSON.stringify({ quotas: { address: 2 } }))
  program = await startMillrace({ DATA_DIR: dataDir.path, ACCESS: 'guarded', ACCESS_FILE: accessFile })
  await blockProjected(program, 1)
  const { rpcUrl } = JSON.parse(await millrace('devchain', 'show', '--json'))
  await blockProjected(program, await blockWithOrder(rpcUrl))
  const key = generatePrivateKey()
  await millrace('devchain', 'fund', privateKeyToAddress(key))
  folder = openPayersFolder(key, program.origin, { RPC_URL: rpcUrl, MPPX_CONFIG: 'mppx.config.mjs' })
  await folder.commands(`cat > mppx.config.mjs <<'END'\n${walletConfig}END\n`)
  document = await (await fetch(`${program.origin}/openapi.json`)).json()
})
afterAll(async () => {
  folder?.remove()
  await program?.stop()
  dataDir.remove()
})

/** A block by which the dev chain's exchange has order 1, the document's example. */
async function blockWithOrder(rpcUrl: string): Promise<number> {
  const rpc = createPublicClient({ transport: http(rpcUrl) })
  const { stablecoinDex: abi } = Abis
  const { stablecoinDex: address } = Addresses
  await until(async () => (await rpc.readContract({ abi, address, functionName: 'nextOrderId' })) > 1n)
  return Number(await rpc.getBlockNumber())
}

const walletConfig = `import { readFileSync } from 'node:fs'
import { tempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { tempo as chain } from 'viem/chains'
const account = privateKeyToAccount(readFileSync('payer.key', 'utf8').trim())
const client = createClient({ account, chain: { ...chain, id: 1337 }, transport: http(process.env.RPC_URL) })
export default { methods: [tempo({ account, getClient: () => client, maxDeposit: '1' })] }
`

const millrace = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: dataDir.path }
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
  return stdout
}

/** The command's output with these flags. */
async function validate(...flags: string[]) {
  const words = ['mppx', 'validate', program.origin, '--yes', '--output-json', ...flags]
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  // It ends with 1 where it refuses something, and before all that it says has left by a pipe.
  const told = JSON.parse(await folder.commands(`npx ${quoted} > told.json || true; cat told.json`))
  const endpoints: Told[] = told.endpoints
  return { told, endpoints }
}

interface Told {
  readonly method: string
  readonly path: string
  readonly challenge: readonly Check[]
  readonly errorHandling: readonly Check[]
  readonly payment: readonly Check[]
}

interface Check {
  readonly label: string
  readonly severity: string
  readonly detail?: string
}

const isComplaint = ({ severity }: Check) => severity === 'fail' || severity === 'warn'
const nameOf = ({ method, path }: Told) => `${method} ${path}`
const checksOf = ({ challenge, errorHandling, payment }: Told) => [...challenge, ...errorHandling, ...payment]

/** Refusals, and warnings. */
const complaintsOf = (endpoints: readonly Told[]): readonly string[] =>
  endpoints.flatMap((told) =>
    checksOf(told)
      .filter(isComplaint)
      // The realm is that of the chain's data everywhere; here it is asked for by an address.
      .filter(({ label }) => label !== 'Realm matches server hostname')
      // Sixty refused payments a minute are answered by a challenge; it makes up one for each operation.
      .filter(({ detail = '' }) => !/^Got 429( instead)?$/.test(detail))
      .map(({ label, detail }) => `${nameOf(told)}: ${label} ${detail ?? ''}`),
  )

/** Whether the quota's two requests a minute met one of `absent`: a 404 in place of a challenge. */
const wasFree = ({ challenge }: Told) => challenge.some(({ detail }) => detail === 'Got 404 instead')

const isPaid = ({ payment }: Told) => payment.some(({ label }) => label === 'Payment: successful')

const TRIES_MAX = 10

/** Validates one operation until it asks for money: the quota has two requests a minute for nothing. */
async function validateOne(method: string, path: string, ...flags: string[]) {
  const target = filledIn(method, path)
  const body = flags.includes('--body') ? [] : bodyOf(method, path)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { endpoints } = await validate('--endpoint', `${method}:${target}`, ...body, ...flags)
    if (endpoints.some(wasFree)) continue
    if (endpoints.every(isPaid) || complaintsOf(endpoints).length > 0) return endpoints
  }
  throw new Error(`${method} ${path} asked for no money`)
}

/** With the document's examples, which the command reads only where it is given no operation. */
function filledIn(method: string, path: string): string {
  const { parameters = [] } = document.paths[path][method.toLowerCase()]
  return path.replace(/\{(\w+)\}/g, (_, wanted: string) =>
    encodeURIComponent(parameters.find(({ name }: Json) => name === wanted).example),
  )
}

/** The example of a body, as flags; none where the operation takes none. */
function bodyOf(method: string, path: string): readonly string[] {
  const media = document.paths[path][method.toLowerCase()].requestBody?.content['application/json']
  const example = media?.example ?? media?.schema?.examples?.[0]
  return example === undefined ? [] : ['--body', JSON.stringify(example)]
}

const isOfOne = ({ path }: Told) => /\{(id|jobId|deliveryId)\}/.test(path)
/** There is none on a dev chain, and nothing is taken for a 404. */
const absent = ['GET /feed/{chainId}/assets/{address}', 'GET /v1/tokens/{token}/logo']
/** They ask for a charge of zero, which has no receipt. */
const proofs = ['HEAD /v1/jobs', 'GET /v1/jobs', 'GET /v1/webhooks']

const hasNoReceipt = (told: Told) => [...absent, ...proofs].includes(nameOf(told))
const needsInput = (told: Told) =>
  ['GET /v1/indexer/query', 'POST /v1/indexer/query', 'POST /v1/jobs', 'POST /v1/webhooks'].includes(
    nameOf(told),
  )

test('the document, and every operation that it offers by itself', async () => {
  const { told, endpoints } = await validate()
  expect(told.discovery.checks.filter(isComplaint)).toEqual([])
  const alone = endpoints.filter((each) => !isOfOne(each) && !needsInput(each))
  const [unanswered, answered] = [alone.filter(hasNoReceipt), alone.filter((told) => !hasNoReceipt(told))]
  expect(unanswered.map(nameOf).toSorted()).toEqual([...absent, ...proofs].toSorted())
  for (const each of unanswered) {
    const asked = wasFree(each) ? await validateOne(each.method, each.path) : [each]
    expect(complaintsOf(asked.map((told) => ({ ...told, payment: [] })))).toEqual([])
  }
  expect(answered.length).toBeGreaterThan(30)
  expect(complaintsOf(answered)).toEqual([])
  for (const { method, path } of answered.filter((each) => !isPaid(each)))
    expect(complaintsOf(await validateOne(method, path))).toEqual([])
})

test.each([
  ['GET', '--query', 'sql=SELECT num FROM blocks LIMIT 1'],
  ['POST', '--body', '{"sql":"SELECT num FROM blocks LIMIT 1"}'],
])('a query by %s', async (method, ...flags) => {
  expect(complaintsOf(await validateOne(method, '/v1/indexer/query', ...flags))).toEqual([])
})

test('a job, and the account that bought it', async () => {
  const node = { dependsOn: [], id: 'day', serviceId: 'demo-sun', method: 'POST', path: '/daylight' }
  const plan = { nodes: [{ ...node, input: { latitude: 48.9, date: '2026-06-21' } }] }
  const body = JSON.stringify({ idempotencyKey: randomUUID(), plan })
  const told = await validateOne('POST', '/v1/jobs', '--body', body)
  const paid = told.flatMap(({ payment }) => payment).filter(({ label }) => label === 'Payment: successful')
  // The key names one job: what else is paid by it takes nothing, and has no receipt.
  expect(complaintsOf(told)).toEqual(
    paid.slice(1).map(() => 'POST /v1/jobs: Payment-Receipt header present '),
  )
})
