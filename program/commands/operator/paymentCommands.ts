/** Commands about money: the payments of callers, and the dev chain on which they are tried. */
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

export const devchainCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'devchain', description: 'Where the local dev chain is, and money on it.' },
    default: 'show',
    subCommands: {
      show: defineCommand({
        meta: { name: 'show', description: 'Its address, id and tokens.' },
        args: { json },
        run: command(async ({ config }, args) => {
          const { printDevChain } = await import('./devchain.ts')
          await printDevChain(config, args['json'] === true)
        }),
      }),
      fund: defineCommand({
        meta: { name: 'fund', description: 'Give an account a thousand of each token.' },
        args: { account: { type: 'positional', description: 'The account, 0x….' } },
        run: command(async ({ config }, args) => {
          const { fundAccount } = await import('./devchain.ts')
          await fundAccount(config, args['account'])
        }),
      }),
    },
  })
