/** `millrace payments` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from './catalogCommands.ts'

const json = { type: 'boolean', description: 'The report as JSON.' } as const

export const paymentsCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'payments', description: 'What callers paid.' },
    subCommands: {
      list: defineCommand({
        meta: { name: 'list', description: 'Payments, the newest first.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { printPayments } = await import('./payments.ts')
          await printPayments(config, args['json'] === true, runtime, log)
        }),
      }),
      audit: defineCommand({
        meta: { name: 'audit', description: 'Compare ledger and payments; exit code 1 on any difference.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { auditPayments } = await import('./payments.ts')
          if (!(await auditPayments(config, args['json'] === true, runtime, log))) process.exitCode = 1
        }),
      }),
    },
  })
