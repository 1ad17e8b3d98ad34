/** `millrace devchain` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from './catalogCommands.ts'

const json = { type: 'boolean', description: 'The report as JSON.' } as const

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
          const { fundDevAccount } = await import('./devchain.ts')
          await fundDevAccount(config, args['account'])
        }),
      }),
    },
  })
