/**
 * The command line. Reads the settings, hands them to one command, and turns its end into an exit
 * code.
 */

import { defineCommand, runMain } from 'citty'
import { Screen } from '#console/terminal/Screen.ts'
import { MillraceError, messageOf, SettingError } from '#errors.ts'
import { EXPORT_ROWS_MAX, ROWS_MAX } from '#query/limits.ts'
import { type Runtime, systemRuntime } from '#runtime/runtime.ts'
import { createLogger, type Logger } from '#telemetry.ts'
import program from '../../package.json' with { type: 'json' }
import { type Config, readConfig } from '../config.ts'
import { createStopSignal } from '../process/stopSignal.ts'
import { chooseChain } from './chain/chooseChain.ts'
import { booksCommand } from './money/booksCommands.ts'
import { paymentsCommand } from './money/paymentsCommands.ts'
import { walletCommand } from './money/walletCommands.ts'
import { catalogCommand } from './operator/catalogCommands.ts'
import { devchainCommand } from './operator/devchainCommands.ts'
import { feedbackCommand } from './operator/feedbackCommands.ts'
import { jobsCommand } from './operator/jobsCommands.ts'
import { proveCommand } from './prove/proveCommands.ts'

interface Context {
  readonly config: Config
  readonly runtime: Runtime
  readonly log: Logger
  /** Aborted by the first signal that asks the program to end. */
  readonly stop: AbortSignal
  /** The screen on which the view is drawn and, on a terminal, what the logs are printed above. */
  readonly screen: Screen
}

type Arguments = Readonly<Record<string, unknown>>
/** A command's options, as it declares them. */
type Declared = Readonly<Record<string, { readonly type?: string }>>

const from = { type: 'string', description: 'First block.' } as const
const to = { type: 'string', description: 'Last block, inclusive.' } as const
const chain = { type: 'string', description: 'Chain id, where several are held.' } as const
const json = { type: 'boolean', description: 'The report as JSON.' } as const

const queryOptions = {
  sql: { type: 'positional', required: false, description: 'One SELECT; left out or `-`, standard input.' },
  signature: {
    type: 'string',
    description: 'Events or functions as tables, with `;` between: "Transfer(address indexed from, …)".',
  },
  engine: { type: 'string', description: 'postgres (follows the head) or clickhouse (final blocks).' },
  chain: { type: 'string', description: 'Chain id, where several are served.' },
  format: { type: 'string', description: 'table, json (an object a line), csv, ndjson, arrow or parquet.' },
  limit: {
    type: 'string',
    description: `Rows at most; ${ROWS_MAX}, up to ${EXPORT_ROWS_MAX} as csv, ndjson, arrow or parquet.`,
  },
  live: {
    type: 'boolean',
    description: 'The rows of every new block, or the whole result again, until interrupted.',
  },
  snapshot: { type: 'boolean', description: 'The whole result whenever it changed, until interrupted.' },
} as const

/** Exit code of a query whose rows were cut: neither success nor failure. */
const CUT_EXIT_CODE = 3

const keyOptions = {
  name: { type: 'string', description: 'For people.' },
  scopes: { type: 'string', description: 'Comma separated; `*` is all. Left out: reading data and SQL.' },
  environment: { type: 'string', description: 'production (the default) or sandbox: never mainnet.' },
  project: { type: 'string', description: 'The project it belongs to; left out, the default one.' },
  expires: { type: 'string', description: 'When it ends, 2027-01-31 for example.' },
  'allowed-ips': { type: 'string', description: 'Addresses and CIDR ranges it may be used from.' },
  chains: { type: 'string', description: 'Ids of the chains it reaches.' },
  origins: { type: 'string', description: 'Web origins it may be used from.' },
  quota: { type: 'string', description: 'Requests a minute and scope.' },
  'address-quota': { type: 'string', description: 'Requests a minute for each network address.' },
} as const

/** A command's code is loaded when it is asked for, so that a wrong setting is told at once. */
const subCommands = {
  up: defineCommand({
    meta: { name: 'up', description: 'Index, serve and show, until interrupted.' },
    run: command(async ({ config, runtime, log, stop, screen }) => {
      const { up } = await import('./up.ts')
      await up(config, { runtime, log, stop, screen })
    }),
  }),
  status: defineCommand({
    meta: { name: 'status', description: 'What a running program is doing.' },
    args: { watch: { type: 'boolean', description: 'Again every second.' }, json },
    run: command(async ({ config, runtime, stop }, { watch, json }) => {
      const { printStatus } = await import('./status.ts')
      await printStatus(config, { watch: watch === true, json: json === true }, runtime.clock, stop)
    }),
  }),
  connect: defineCommand({
    meta: { name: 'connect', description: 'How psql and curl read the databases of a running program.' },
    run: command(async ({ config }) => {
      const { printConnect } = await import('./connect.ts')
      printConnect(config)
    }),
  }),
  query: defineCommand({
    meta: { name: 'query', description: 'Run SQL on a running program; rows go to standard output.' },
    args: queryOptions,
    run: command(async ({ config, runtime, stop }, args) => {
      const { printQuery } = await import('./query.ts')
      const unread = new AbortController()
      // A stream nobody reads, as behind `| head`, is over.
      process.stdout.once('error', () => unread.abort())
      const streams = { rows: process.stdout, notes: process.stderr }
      const ending = AbortSignal.any([stop, unread.signal])
      if (!(await printQuery(config, args, streams, runtime.clock, ending))) process.exitCode = CUT_EXIT_CODE
    }),
  }),
  listen: defineCommand({
    meta: { name: 'listen', description: 'Receive webhooks here, verify and print them, until interrupted.' },
    args: {
      event: { type: 'positional', required: false, description: 'Type to subscribe to, token:transfer.' },
      filters: { type: 'string', description: 'Filters as JSON: {"token": "0x…"}.' },
      chain: { type: 'string', description: 'Chain id, where several are served.' },
      port: { type: 'string', description: 'To listen at, on 127.0.0.1; left out, any.' },
      secret: { type: 'string', description: 'Of a subscription there is; none is made then.' },
      key: { type: 'string', description: 'API key to subscribe with, where one is needed.' },
    },
    run: command(async ({ config, runtime, stop }, args) => {
      const { listen } = await import('./listen.ts')
      const streams = { events: process.stdout, notes: process.stderr }
      await listen(config, args, streams, runtime.clock, stop)
    }),
  }),
  backfill: defineCommand({
    meta: { name: 'backfill', description: 'Index a range of history into both stores, then end.' },
    args: { from, to, chain },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const bounds = boundsOf(args)
      const { backfill } = await import('./chain/backfill.ts')
      await backfill(chosen(config, args), bounds, runtime, log, stop)
    }),
  }),
  verify: defineCommand({
    meta: {
      name: 'verify',
      description: 'Compare both stores with the node; exit code 1 on any difference.',
    },
    args: { from, to, chain, json },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const bounds = { ...boundsOf(args), json: args['json'] === true }
      const { verify } = await import('./chain/verify.ts')
      if (!(await verify(chosen(config, args), bounds, runtime, log, stop))) process.exitCode = 1
    }),
  }),
  plan: defineCommand({
    meta: { name: 'plan', description: 'What a backfill will cost, from a sample of the chain.' },
    args: { from, to, chain, price: { type: 'string', description: 'Price of a million calls.' }, json },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const pricePerMillion = price(args['price'])
      const bounds = { ...boundsOf(args), json: args['json'] === true, pricePerMillion }
      const { plan } = await import('./chain/plan.ts')
      await plan(chosen(config, args), bounds, runtime, log, stop)
    }),
  }),
  rederive: defineCommand({
    meta: { name: 'rederive', description: 'Make derived rows anew from the raw archive, in both stores.' },
    args: { chain, all: { type: 'boolean', description: 'Also what this version of the program made.' } },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const { rederive } = await import('./chain/rederive.ts')
      const chainId = chainNumber('--chain', args['chain'])
      await rederive(config, { chainId, all: args['all'] === true }, runtime, log, stop)
    }),
  }),
  rewind: defineCommand({
    meta: {
      name: 'rewind',
      description: 'Take both stores back to a block; the next start goes on from it.',
    },
    args: {
      to: { type: 'string', description: 'Newest block that stays.' },
      chain,
      'below-finalized': { type: 'boolean', description: 'Take back final blocks too.' },
    },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const to = height('--to', args['to'])
      if (to === null) throw new SettingError('--to', 'is needed: the newest block that stays')
      const { rewind } = await import('./chain/rewind.ts')
      const chainId = chainNumber('--chain', args['chain'])
      const belowFinalized = args['below-finalized'] === true
      await rewind(config, { to, chainId, belowFinalized }, runtime, log, stop)
    }),
  }),
  chains: defineCommand({
    meta: { name: 'chains', description: 'The chains held; one is added in the settings and removed here.' },
    subCommands: {
      list: defineCommand({
        meta: { name: 'list', description: 'What both stores hold, by chain.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { printHeldChains } = await import('./chain/heldChains.ts')
          await printHeldChains(config, args['json'] === true, runtime, log)
        }),
      }),
      remove: defineCommand({
        meta: { name: 'remove', description: 'Drop everything held of a chain.' },
        args: {
          id: { type: 'positional', description: 'Chain id.' },
          yes: { type: 'boolean', description: 'Really.' },
        },
        run: command(async ({ config, runtime, log }, args) => {
          const chainId = chainNumber('id', args['id'])
          if (chainId === null) throw new SettingError('id', 'is needed: the chain to drop')
          const { removeChain } = await import('./chain/heldChains.ts')
          await removeChain(config, chainId, args['yes'] === true, runtime, log)
        }),
      }),
    },
  }),
  keys: defineCommand({
    meta: { name: 'keys', description: 'API keys.' },
    subCommands: {
      create: defineCommand({
        meta: { name: 'create', description: 'Make a key; its token is printed this once.' },
        args: keyOptions,
        run: command(async ({ config, runtime, log }, args) => {
          const { createKey } = await import('./operator/keys.ts')
          await createKey(config, args, runtime, log)
        }),
      }),
      list: defineCommand({
        meta: { name: 'list', description: 'Keys that open something, the newest first.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { printKeys } = await import('./operator/keys.ts')
          await printKeys(config, args['json'] === true, runtime, log)
        }),
      }),
      revoke: defineCommand({
        meta: { name: 'revoke', description: 'End a key.' },
        args: { id: { type: 'positional', description: 'Id of the key, key_….' } },
        run: command(async ({ config, runtime, log }, args) => {
          const { revokeKeyNamed } = await import('./operator/keys.ts')
          await revokeKeyNamed(config, args['id'], runtime, log)
        }),
      }),
    },
  }),
  orgs: defineCommand({
    meta: { name: 'orgs', description: 'Organizations.' },
    subCommands: {
      'add-member': defineCommand({
        meta: { name: 'add-member', description: 'Give an account a role, which lets it sign in.' },
        args: {
          address: { type: 'string', description: 'The account.' },
          role: { type: 'string', description: 'member, admin or owner (the default).' },
          org: { type: 'string', description: 'The organization; left out, the default one.' },
        },
        run: command(async ({ config, runtime, log }, args) => {
          const { addMember } = await import('./operator/orgs.ts')
          await addMember(config, args, runtime, log)
        }),
      }),
    },
  }),
  secrets: defineCommand({
    meta: { name: 'secrets', description: 'The keys this installation signs and seals with.' },
    subCommands: {
      rotate: defineCommand({
        meta: { name: 'rotate', description: 'Make newer ones; cursors given out before open for a week.' },
        run: command(async ({ config, runtime, log }) => {
          const { rotateSecrets } = await import('./operator/secrets.ts')
          await rotateSecrets(config, runtime, log)
        }),
      }),
    },
  }),
  catalog: catalogCommand(command),
  books: booksCommand(command),
  payments: paymentsCommand(command),
  jobs: jobsCommand(command),
  prove: proveCommand(command),
  wallet: walletCommand(command),
  feedback: feedbackCommand(command),
  devchain: devchainCommand(command),
  demo: defineCommand({
    meta: { name: 'demo', description: 'Search, buy, watch and review a plan on the local dev chain.' },
    run: command(async ({ config, runtime, log, stop }) => {
      const { runDemo } = await import('./money/demo.ts')
      if (!(await runDemo(config, runtime, log, stop))) process.exitCode = 1
    }),
  }),
  config: defineCommand({
    meta: { name: 'config', description: 'Every setting: what holds, from where, and its meaning.' },
    args: { json },
    run: command(async ({ config }, args) => {
      const { printSettings } = await import('./operator/printSettings.ts')
      await printSettings(process.env, config, args['json'] === true)
    }),
  }),
}

/**
 * The `run` of a command. An expected failure is one line that names the setting or the cause, and
 * exit code 1.
 */
function command(run: (context: Context, args: Arguments) => Promise<void>) {
  return async ({ args, cmd }: { readonly args: Arguments; readonly cmd: { readonly args?: unknown } }) => {
    try {
      assertKnown(args, Object(cmd.args))
      await run(createContext(), args)
    } catch (error) {
      fail(error)
    }
    // A pipe takes what is written when its reader gets to it; an exit before that would cut it.
    await new Promise((resolve) => process.stdout.write('', resolve))
    // Handles that outlive their use must not keep a finished command alive.
    process.exit()
  }
}

function createContext(): Context {
  const config = readConfig(process.env)
  const runtime = systemRuntime(config.failpoints)
  const screen = new Screen(process.stdout)
  const watched = process.stdout.isTTY && process.stderr.isTTY
  const log = createLogger(config.logLevel, watched ? screen.logs : undefined)
  return { config, runtime, log, screen, stop: createStopSignal(process, runtime.clock) }
}

/** An option that is not known was meant to do something. @throws SettingError */
function assertKnown(args: Arguments, declared: Declared): void {
  const plain = (name: string) => name.replaceAll('-', '').toLowerCase()
  const known = Object.keys(declared).map(plain)
  const unknown = Object.keys(args).find((name) => name !== '_' && !known.includes(plain(name)))
  if (unknown)
    throw new SettingError(
      `--${unknown}`,
      'is not an option of this command; settings are environment variables, see `millrace config`',
    )
  const positions = Object.values(declared).filter(({ type }) => type === 'positional').length
  const surplus = Array.isArray(args['_']) ? args['_'][positions] : undefined
  if (surplus !== undefined) throw new SettingError(String(surplus), 'is not expected here')
}

function boundsOf(args: Arguments): { readonly from: number | null; readonly to: number | null } {
  const bounds = { from: height('--from', args['from']), to: height('--to', args['to']) }
  if (bounds.from !== null && bounds.to !== null && bounds.to < bounds.from)
    throw new SettingError('--to', `${bounds.to} is below --from ${bounds.from}`)
  return bounds
}

const chosen = (config: Config, args: Arguments) => chooseChain(config, chainNumber('--chain', args['chain']))

const height = (name: string, text: unknown) => wholeNumber(name, text, 'block number')
const chainNumber = (name: string, text: unknown) => wholeNumber(name, text, 'chain id')

function wholeNumber(name: string, text: unknown, what: string): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (String(text).trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new SettingError(name, `\`${text}\` is not a ${what}`)
  return value
}

function price(text: unknown): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (String(text).trim() === '' || !Number.isFinite(value) || value < 0)
    throw new SettingError('--price', `\`${text}\` is not a price`)
  return value
}

/** Anything that is not an expected failure is a defect, and shown with where it happened. */
function fail(error: unknown): void {
  const defect = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${error instanceof MillraceError ? `millrace: ${messageOf(error)}` : defect}\n`)
  process.exitCode = 1
}

// Nobody has to read what we print: `| head`, or a terminal that was closed.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

const name = process.argv[2] ?? ''
if (name === '' || name.startsWith('-') || Object.hasOwn(subCommands, name)) {
  const meta = {
    name: 'millrace',
    version: program.version,
    description: 'A verified blockchain index with SQL, REST and live streams.',
  }
  await runMain(defineCommand({ meta, subCommands }))
} else {
  const known = Object.keys(subCommands).join(', ')
  fail(new SettingError(name, `is not a command; there are ${known}`))
}
