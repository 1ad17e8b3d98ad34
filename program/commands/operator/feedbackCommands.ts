/** `millrace feedback` and its command, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from './catalogCommands.ts'

export const feedbackCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'feedback', description: 'What agents said of this service.' },
    subCommands: {
      list: defineCommand({
        meta: { name: 'list', description: 'Messages, the newest first.' },
        args: { json: { type: 'boolean', description: 'The report as JSON.' } },
        run: command(async ({ config, runtime, log }, args) => {
          const { printFeedback } = await import('./feedback.ts')
          await printFeedback(config, args['json'] === true, runtime, log)
        }),
      }),
    },
  })
