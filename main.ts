#!/usr/bin/env node
/** The command line. Reads the settings, hands them to one command, and turns its end into an exit code. */
import { defineCommand, runMain } from 'citty'
import { backfill } from './commands/backfill.ts'
import { printStatus } from './commands/statusCommand.ts'
import { up } from './commands/up.ts'
import { verify } from './commands/verify.ts'
import { readConfig, settings } from './config.ts'
import { MillraceError, messageOf, SettingError } from './errors.ts'
import { systemRuntime } from './runtime.ts'
import { createLogger } from './telemetry.ts'

const from = { type: 'string', description: 'First block.' } as const
const to = { type: 'string', description: 'Last block, inclusive.' } as const

const main = defineCommand({
  meta: { name: 'millrace', description: 'A verified blockchain index with SQL, REST and live streams.' },
  subCommands: {
    up: defineCommand({
      meta: { name: 'up', description: 'Index, serve and show, until interrupted.' },
      run: () => command(({ config, runtime, log, stop }) => up(config, runtime, log, stop)),
    }),
    status: defineCommand({
      meta: { name: 'status', description: 'What a running program is doing.' },
      args: {
        watch: { type: 'boolean', description: 'Again every second.' },
        json: { type: 'boolean', description: 'The report as JSON.' },
      },
      run: ({ args }) =>
        command(({ config, runtime }) =>
          printStatus(config, { watch: args.watch === true, json: args.json === true }, runtime.clock),
        ),
    }),
    backfill: defineCommand({
      meta: { name: 'backfill', description: 'Index a range of history into both stores, then end.' },
      args: { from, to },
      run: ({ args }) =>
        command(({ config, runtime, log }) =>
          backfill(
            config,
            { from: height('--from', args.from) ?? 0, to: height('--to', args.to) },
            runtime,
            log,
          ),
        ),
    }),
    verify: defineCommand({
      meta: {
        name: 'verify',
        description: 'Compare both stores with the node; exit code 1 on any difference.',
      },
      args: { from, to, json: { type: 'boolean', description: 'The report as JSON.' } },
      run: ({ args }) =>
        command(async ({ config, runtime, log }) => {
          const bounds = {
            from: height('--from', args.from),
            to: height('--to', args.to),
            json: args.json === true,
          }
          if (!(await verify(config, bounds, runtime, log))) process.exitCode = 1
        }),
    }),
    config: defineCommand({
      meta: { name: 'config', description: 'Every setting, its default and its meaning.' },
      run: () => {
        const width = Math.max(...settings.map(({ name }) => name.length))
        for (const { name, fallback, meaning } of settings)
          process.stdout.write(
            `${name.padEnd(width)}  ${meaning}${fallback ? ` Default: ${fallback}.` : ''}\n`,
          )
      },
    }),
  },
})

type Context = ReturnType<typeof createContext>

function createContext() {
  const config = readConfig(process.env)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return {
    config,
    runtime: systemRuntime(config.failpoints),
    log: createLogger(config.logLevel),
    stop: stop.signal,
  }
}

/** An expected failure is one line that names the setting or the cause, and exit code 1; anything else is a defect. */
async function command(run: (context: Context) => Promise<void>): Promise<void> {
  try {
    await run(createContext())
  } catch (error) {
    const expected = error instanceof MillraceError
    process.stderr.write(`${expected ? `millrace: ${messageOf(error)}` : describeDefect(error)}\n`)
    process.exitCode = 1
  }
  // Handles that outlive their use must not keep a finished command alive.
  process.exit()
}

const describeDefect = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)

function height(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < 0)
    throw new SettingError(name, `\`${text}\` is not a block number`)
  return value
}

await runMain(main)
