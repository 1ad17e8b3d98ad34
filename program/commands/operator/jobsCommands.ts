/** `millrace jobs` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from './catalogCommands.ts'

const json = { type: 'boolean', description: 'The report as JSON.' } as const
const job = { type: 'positional', description: 'Its id: who has it may read what came of the job.' } as const

export const jobsCommand = (command: CommandMaker) =>
  defineCommand({
    meta: { name: 'jobs', description: 'Plans that were bought.' },
    subCommands: {
      list: defineCommand({
        meta: { name: 'list', description: 'Jobs, the newest first.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { printJobs } = await import('./jobs.ts')
          await printJobs(config, args['json'] === true, runtime, log)
        }),
      }),
      show: defineCommand({
        meta: { name: 'show', description: 'One job with its calls, amounts and outputs, as JSON.' },
        args: { job },
        run: command(async ({ config, runtime, log }, args) => {
          const { printJob } = await import('./jobs.ts')
          await printJob(config, String(args['job']), runtime, log)
        }),
      }),
      cancel: defineCommand({
        meta: {
          name: 'cancel',
          description: 'Begin nothing more of a job, and pay back what it did not spend.',
        },
        args: { job },
        run: command(async ({ config, runtime, log }, args) => {
          const { cancelJob } = await import('./jobs.ts')
          await cancelJob(config, String(args['job']), runtime, log)
        }),
      }),
      uncomment: defineCommand({
        meta: { name: 'uncomment', description: 'Remove the comments of a job’s review; its ratings stay.' },
        args: { job },
        run: command(async ({ config, runtime, log }, args) => {
          const { uncommentJob } = await import('./jobs.ts')
          await uncommentJob(config, String(args['job']), runtime, log)
        }),
      }),
    },
  })
