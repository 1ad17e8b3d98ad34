/** `millrace wallet` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from '../operator/catalogCommands.ts'

const json = { type: 'boolean', description: 'The report as JSON.' } as const

export const walletCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'wallet', description: 'The wallet that pays for the calls of jobs.' },
    subCommands: {
      show: defineCommand({
        meta: { name: 'show', description: 'Balances, what is reserved, what was spent today, and limits.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { printWallet } = await import('./wallet.ts')
          await printWallet(config, args['json'] === true, runtime, log)
        }),
      }),
      pause: defineCommand({
        meta: { name: 'pause', description: 'No money leaves from now on; what is under way is finished.' },
        run: command(async ({ config, runtime, log }) => {
          const { pauseWallet } = await import('./wallet.ts')
          await pauseWallet(config, runtime, log)
        }),
      }),
      resume: defineCommand({
        meta: {
          name: 'resume',
          description: 'Money leaves again, also what a restore of the database stopped.',
        },
        run: command(async ({ config, runtime, log }) => {
          const { resumePaying } = await import('./wallet.ts')
          await resumePaying(config, runtime, log)
        }),
      }),
    },
  })
