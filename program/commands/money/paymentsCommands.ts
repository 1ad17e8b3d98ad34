/** `millrace payments` and its commands, as the command line declares them. */
import { defineCommand } from 'citty'
import type { CommandMaker } from '../operator/catalogCommands.ts'

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
      refunds: defineCommand({
        meta: { name: 'refunds', description: 'What is owed to payers, and what was sent.' },
        args: { json },
        run: command(async ({ config, runtime, log }, args) => {
          const { printRefunds } = await import('./refunds.ts')
          await printRefunds(config, args['json'] === true, runtime, log)
        }),
      }),
      refund: defineCommand({
        meta: { name: 'refund', description: 'Queue the refund of a payment that is owed, once.' },
        args: {
          payment: { type: 'positional', required: false, description: 'Its id, as `refunds` tells it.' },
          all: { type: 'boolean', description: 'All that is owed.' },
        },
        run: command(async ({ config, runtime, log }, args) => {
          const { queueRefunds } = await import('./refunds.ts')
          await queueRefunds(config, { id: args['payment'], all: args['all'] === true }, runtime, log)
        }),
      }),
      settle: defineCommand({
        meta: {
          name: 'settle',
          description: 'Take a transfer for a payout: yours on the chain of x402, or one lost in a restore.',
        },
        args: {
          payout: { type: 'positional', required: true, description: 'Its id, as `refunds` tells it.' },
          transaction: { type: 'positional', required: true, description: 'Hash of the transfer.' },
        },
        run: command(async ({ config, runtime, log }, args) => {
          const { settleRefund } = await import('./refunds.ts')
          await settleRefund(config, { id: args['payout'], txHash: args['transaction'] }, runtime, log)
        }),
      }),
      unpaid: defineCommand({
        meta: {
          name: 'unpaid',
          description: 'Send a payout that a transfer of before a restore may have paid, and has not.',
        },
        args: {
          payout: { type: 'positional', required: true, description: 'Its id, as `refunds` tells it.' },
        },
        run: command(async ({ config, runtime, log }, args) => {
          const { sendUnpaid } = await import('./refunds.ts')
          await sendUnpaid(config, args['payout'], runtime, log)
        }),
      }),
      pause: defineCommand({
        meta: { name: 'pause', description: 'Leave refunds and rewards queued, in every process.' },
        args: { reason: { type: 'string', description: 'For people.' } },
        run: command(async ({ config, runtime, log }, args) => {
          const { pausePayouts } = await import('./refunds.ts')
          await pausePayouts(config, args['reason'], runtime, log)
        }),
      }),
      resume: defineCommand({
        meta: { name: 'resume', description: 'Send what is queued.' },
        run: command(async ({ config, runtime, log }) => {
          const { resumePayouts } = await import('./refunds.ts')
          await resumePayouts(config, runtime, log)
        }),
      }),
    },
  })
