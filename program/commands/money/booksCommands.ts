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
          description:
            'Compare ledger, rows and chains; exit code 1 on any difference, 2 where a chain does not tell.',
        },
        args: {
          json: { type: 'boolean', description: 'The report as JSON.' },
          all: {
            type: 'boolean',
            description: 'Ask the nodes of chains that are not indexed here for every block again.',
          },
        },
        run: command(async ({ config, runtime, log }, args) => {
          const { printBooks } = await import('./books.ts')
          const asked = { json: args['json'] === true, all: args['all'] === true }
          process.exitCode = await printBooks(config, asked, runtime, log)
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
