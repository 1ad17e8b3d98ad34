#!/usr/bin/env node
/** The command line. Reads the settings, hands them to one command, and turns its end into an exit code. */
import { defineCommand, runMain } from 'citty'
import { createStopSignal } from './commands/stopSignal.ts'
import { type Config, readConfig, settings } from './config.ts'
import { Screen } from './console/screen.ts'
import { MillraceError, messageOf, SettingError } from './errors.ts'
import { type Runtime, systemRuntime } from './runtime.ts'
import { createLogger, type Logger } from './telemetry.ts'

interface Context {
  readonly config: Config
  readonly runtime: Runtime
  readonly log: Logger
  /** Aborted by the first signal that asks the program to end. */
  readonly stop: AbortSignal
  /** Where the view is drawn and, on a terminal, what the logs are printed above. */
  readonly screen: Screen
}

type Arguments = Readonly<Record<string, unknown>>

const from = { type: 'string', description: 'First block.' } as const
const to = { type: 'string', description: 'Last block, inclusive.' } as const
const json = { type: 'boolean', description: 'The report as JSON.' } as const

const queryOptions = {
  sql: { type: 'positional', required: false, description: 'One SELECT; left out or `-`, standard input.' },
  engine: { type: 'string', description: 'postgres (follows the head) or clickhouse (final blocks).' },
  chain: { type: 'string', description: 'Chain id, where several are served.' },
  format: { type: 'string', description: 'table, json (an object a line) or csv.' },
  limit: { type: 'string', description: 'Rows at most, up to 10000.' },
  live: { type: 'boolean', description: 'The rows of every new block, until interrupted.' },
  snapshot: { type: 'boolean', description: 'The whole result whenever it changed, until interrupted.' },
} as const

/** A command's code is loaded when it is asked for, so that a wrong setting is told at once. */
const subCommands = {
  up: defineCommand({
    meta: { name: 'up', description: 'Index, serve and show, until interrupted.' },
    run: command(async ({ config, runtime, log, stop, screen }) => {
      const { up } = await import('./commands/up.ts')
      await up(config, { runtime, log, stop, screen })
    }),
  }),
  status: defineCommand({
    meta: { name: 'status', description: 'What a running program is doing.' },
    args: { watch: { type: 'boolean', description: 'Again every second.' }, json },
    run: command(async ({ config, runtime, stop }, { watch, json }) => {
      const { printStatus } = await import('./commands/statusCommand.ts')
      await printStatus(config, { watch: watch === true, json: json === true }, runtime.clock, stop)
    }),
  }),
  query: defineCommand({
    meta: { name: 'query', description: 'Run SQL on a running program; rows go to standard output.' },
    args: queryOptions,
    run: command(async ({ config, runtime, stop }, args) => {
      const { printQuery } = await import('./commands/query.ts')
      const unread = new AbortController()
      // A stream nobody reads any more, as behind `| head`, is over.
      process.stdout.once('error', () => unread.abort())
      const streams = { rows: process.stdout, notes: process.stderr }
      await printQuery(config, args, streams, runtime.clock, AbortSignal.any([stop, unread.signal]))
    }),
  }),
  backfill: defineCommand({
    meta: { name: 'backfill', description: 'Index a range of history into both stores, then end.' },
    args: { from, to },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const bounds = boundsOf(args)
      const { backfill } = await import('./commands/backfill.ts')
      await backfill(config, bounds, runtime, log, stop)
    }),
  }),
  verify: defineCommand({
    meta: {
      name: 'verify',
      description: 'Compare both stores with the node; exit code 1 on any difference.',
    },
    args: { from, to, json },
    run: command(async ({ config, runtime, log, stop }, args) => {
      const bounds = { ...boundsOf(args), json: args['json'] === true }
      const { verify } = await import('./commands/verify.ts')
      if (!(await verify(config, bounds, runtime, log, stop))) process.exitCode = 1
    }),
  }),
  config: defineCommand({
    meta: { name: 'config', description: 'Every setting, its default and its meaning.' },
    run: printSettings,
  }),
}

/** The `run` of a command. An expected failure is one line that names the setting or the cause, and exit code 1. */
function command(run: (context: Context, args: Arguments) => Promise<void>) {
  return async ({ args, cmd }: { readonly args: Arguments; readonly cmd: { readonly args?: unknown } }) => {
    try {
      assertKnown(args, Object.keys(Object(cmd.args)))
      await run(createContext(), args)
    } catch (error) {
      fail(error)
    }
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
function assertKnown(args: Arguments, known: readonly string[]): void {
  const unknown = Object.keys(args).find((name) => name !== '_' && !known.includes(name))
  if (unknown)
    throw new SettingError(
      `--${unknown}`,
      'is not an option of this command; settings are environment variables, see `millrace config`',
    )
  const [surplus] = Array.isArray(args['_']) ? args['_'] : []
  if (surplus !== undefined) throw new SettingError(String(surplus), 'is not expected here')
}

function boundsOf(args: Arguments): { readonly from: number | null; readonly to: number | null } {
  const bounds = { from: height('--from', args['from']), to: height('--to', args['to']) }
  if (bounds.from !== null && bounds.to !== null && bounds.to < bounds.from)
    throw new SettingError('--to', `${bounds.to} is below --from ${bounds.from}`)
  return bounds
}

function height(name: string, text: unknown): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (String(text).trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new SettingError(name, `\`${text}\` is not a block number`)
  return value
}

function printSettings(): void {
  const width = Math.max(...settings.map(({ name }) => name.length))
  for (const { name, fallback, meaning } of settings)
    process.stdout.write(`${name.padEnd(width)}  ${meaning}${fallback ? ` Default: ${fallback}.` : ''}\n`)
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
    description: 'A verified blockchain index with SQL, REST and live streams.',
  }
  await runMain(defineCommand({ meta, subCommands }))
} else {
  const known = Object.keys(subCommands).join(', ')
  fail(new SettingError(name, `is not a command; there are ${known}`))
}
