/** `millrace books` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from '../operator/catalogCommands.ts'

export const booksCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'books', description: 'The ledger of all money.' },
    subCommands: {
      check: defineCommand({
        meta: {
          name: 'check',
          description: 'Compare ledger, rows and chain; exit code 1 on any difference.',
        },
        args: { json: { type: 'boolean', description: 'The report as JSON.' } },
        run: command(async ({ config, runtime, log }, args) => {
          const { printBooks } = await import('./books.ts')
          if (!(await printBooks(config, args['json'] === true, runtime, log))) process.exitCode = 1
        }),
      }),
      export: defineCommand({
        meta: { name: 'export', description: 'Income and cost as CSV, by day, service and payer.' },
        run: command(async ({ config, runtime, log }) => {
          const { exportBooks } = await import('./books.ts')
          await exportBooks(config, runtime, log)
        }),
      }),
    },
  })
