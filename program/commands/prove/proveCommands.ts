/** `millrace prove` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from '../operator/catalogCommands.ts'

export const proveCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'prove', description: 'Check what this program signed, offline.' },
    subCommands: {
      receipt: defineCommand({
        meta: { name: 'receipt', description: 'A job’s receipt; exit code 1 where any of it does not hold.' },
        args: {
          file: { type: 'positional', description: 'The receipt as it was served.' },
          key: { type: 'string', description: 'The `kid` or `x` of the key that has to have signed it.' },
          json: { type: 'boolean', description: 'The report as JSON.' },
        },
        run: command(async (_context, args) => {
          const { proveReceipt } = await import('./proveReceipt.ts')
          const key = args['key'] === undefined ? null : String(args['key'])
          if (!proveReceipt(String(args['file']), key, args['json'] === true)) process.exitCode = 1
        }),
      }),
    },
  })
