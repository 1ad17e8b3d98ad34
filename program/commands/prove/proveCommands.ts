/** `millrace prove` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from '../operator/catalogCommands.ts'

export const proveCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'prove', description: 'Check offline what this program signed, and what its chain did.' },
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
      finality: defineCommand({
        meta: {
          name: 'finality',
          description: 'That a block is final, by its chain’s key; exit code 1 where it is not proved.',
        },
        args: {
          file: {
            type: 'positional',
            description: 'An answer of /v1/blocks/{block}?include=finality: a file, or its URL.',
          },
          chain: { type: 'string', description: 'Id of the chain that it has to be of.' },
          identity: { type: 'string', description: 'A key of the chain, instead of the compiled one.' },
          'from-epoch': { type: 'string', description: 'The epoch from which on that key signs.' },
          json: { type: 'boolean', description: 'The report as JSON.' },
        },
        run: command(async ({ stop }, args) => {
          const { proveFinality } = await import('./proveFinality.ts')
          const given = (name: string) => (args[name] === undefined ? null : String(args[name]))
          const options = {
            ...{ location: String(args['file']), chain: given('chain'), identity: given('identity') },
            ...{ fromEpoch: given('from-epoch'), json: args['json'] === true },
          }
          if (!(await proveFinality(options, stop))) process.exitCode = 1
        }),
      }),
    },
  })
