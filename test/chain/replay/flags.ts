/** The usage of flags that a replayed node is told at its start, and by `replay_set` while it runs. */

export const usage = `usage: node test/chain/replay.ts --recording path [--port 8545] [--host 127.0.0.1]
  --recording            such as test/chain/recordings/tempo-dev-2k, without the endings of its files
  [--shape anvil|tempo]  tempo: receipts and blocks as a Tempo node gives them
  [--repeat 1]           times the part of the recording after its setup is shown
  [--head 0]             height at the start (0: the last)
  [--block-time 0]       milliseconds between further blocks (0: only on replay_advance)
  [--live-time]          further blocks carry the present time
  [--finality 0]         blocks that 'safe' and 'finalized' are behind the head
  [--reorg-at h:d,...]   replaces d blocks when the head reaches h
  [--max-range 0] [--max-logs 0]   limits of eth_getLogs
  faults, each a probability unless said otherwise:
  [--latency 0] [--jitter 0]       milliseconds
  [--rate 0]             requests per second before 429 with Retry-After
  [--fail-429 0] [--fail-503 0] [--drop 0] [--truncate 0]   per request
  [--rpc-error 0]        a JSON-RPC error in place of an answer
  [--near 3] [--missing 0] [--stale 0] [--behind 0]   within so many blocks of the head: null in place of a
                         block or its receipts, receipts of another fork, an older eth_blockNumber
  [--seed 1]             of the faults`

export const defaults = {
  recording: '',
  port: 8545,
  host: '127.0.0.1',
  shape: 'anvil',
  repeat: 1,
  head: 0,
  'block-time': 0,
  'live-time': false,
  finality: 0,
  'reorg-at': '',
  'max-range': 0,
  'max-logs': 0,
  latency: 0,
  jitter: 0,
  rate: 0,
  'fail-429': 0,
  'fail-503': 0,
  drop: 0,
  truncate: 0,
  'rpc-error': 0,
  near: 3,
  missing: 0,
  stale: 0,
  behind: 0,
  seed: '1',
}

export type ReplayFlags = typeof defaults

/** Probabilities among the flags. */
export type Fault =
  | 'fail-429'
  | 'fail-503'
  | 'drop'
  | 'truncate'
  | 'rpc-error'
  | 'missing'
  | 'stale'
  | 'behind'
