/** `millrace catalog` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import { SettingError } from '#errors.ts'
import type { CatalogContext } from './catalog.ts'

type Arguments = Readonly<Record<string, unknown>>

/** Makes the `run` of a command: what it is given, and how it fails, are those of all commands. */
export type CommandMaker = (
  run: (context: CatalogContext, args: Arguments) => Promise<void>,
) => (given: { readonly args: Arguments; readonly cmd: { readonly args?: unknown } }) => Promise<void>

/** The paid services that plans are made of. */
export function catalogCommand(command: CommandMaker) {
  const id = { type: 'positional', description: 'Id of a service.' } as const
  const file = { type: 'positional', description: 'A file, or the URL of one.' } as const
  const load = () => import('./catalog.ts')
  return defineCommand({
    meta: { name: 'catalog', description: 'The paid services that search, describe and quote know.' },
    subCommands: {
      import: defineCommand({
        meta: {
          name: 'import',
          description: 'Take in a list of services; exit code 1 when a part is left out.',
        },
        args: {
          file,
          source: { type: 'string', description: 'Name of the source. Default: from the file.' },
        },
        run: command(async (context, { file, source }) => {
          const { importServices } = await load()
          const sourceId = source === undefined ? null : String(source)
          if (!(await importServices(context, { location: String(file), sourceId }))) process.exitCode = 1
        }),
      }),
      list: defineCommand({
        meta: { name: 'list', description: 'All services, by id.' },
        args: { json: { type: 'boolean', description: 'Whole services, one in a line.' } },
        run: command(async (context, args) => (await load()).printServices(context, args['json'] === true)),
      }),
      show: defineCommand({
        meta: { name: 'show', description: 'One service as JSON.' },
        args: { id },
        run: command(async (context, args) => (await load()).printService(context, String(args['id']))),
      }),
      verify: defineCommand({
        meta: {
          name: 'verify',
          description: 'Call services without paying, to see how they are; exit code 1 when one fails.',
        },
        args: { id: { ...id, required: false } },
        run: command(async (context, args) => {
          const { verifyServices } = await load()
          const given = args['id'] === undefined ? null : String(args['id'])
          if (!(await verifyServices(context, given))) process.exitCode = 1
        }),
      }),
      remove: defineCommand({
        meta: { name: 'remove', description: 'Remove a service, or all that a source listed.' },
        args: {
          id: { ...id, required: false },
          source: { type: 'string', description: 'Name of a source, in place of an id.' },
        },
        run: command(async (context, { id: serviceId, source }) => {
          if ((serviceId === undefined) === (source === undefined))
            throw new SettingError('id', 'say which: the id of a service, or --source')
          const of = source === undefined ? { serviceId: String(serviceId) } : { sourceId: String(source) }
          await (await load()).removeServices(context, of)
        }),
      }),
      eval: defineCommand({
        meta: { name: 'eval', description: 'How good search is on judged questions: MRR and hit@8.' },
        args: { file: { ...file, description: 'JSON: [{"query": ..., "relevant": [service ids]}].' } },
        run: command(async (context, args) => (await load()).printEvaluation(context, String(args['file']))),
      }),
    },
  })
}
