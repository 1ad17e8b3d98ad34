/** The answers to a job's calls: digests, and each output when it is asked for. */
import { type JobRun, readOutput } from '../../job/job.ts'
import { bytesText } from '../../job/jobView.ts'
import { indented } from '../../job/jsonText.ts'
import { form } from '../account/parts.ts'
import { origin } from '../api.ts'
import { element } from '../element.ts'
import { download } from '../query/download.ts'
import { hashButton } from './copying.ts'

/** An output has up to 4 MiB; the file has all of it. */
const SHOWN_CHARACTERS_MAX = 20_000

/** @param areKept false once the results are removed: digests stay */
export function outputsView(jobId: string, runs: readonly JobRun[], areKept: boolean): HTMLElement {
  const delivered = runs.filter(({ outputDigest }) => outputDigest !== undefined)
  if (delivered.length === 0) return element('p', { class: 'meaning' }, 'No call has an output.')
  return element(
    'div',
    { class: 'outputs' },
    areKept
      ? null
      : element(
          'p',
          { class: 'meaning' },
          'What the calls answered is no longer kept; digests and amounts stay.',
        ),
    ...delivered.map((run) => outputOf(jobId, run, areKept)),
  )
}

function outputOf(
  jobId: string,
  { nodeId, outputBytes = 0, outputDigest = '' }: JobRun,
  areKept: boolean,
): HTMLElement {
  const shown = element('pre', { tabindex: 0, 'aria-label': `Output of ${nodeId}`, hidden: true })
  const read = async () => {
    const text = await readOutput(origin, jobId, nodeId, new AbortController().signal)
    if (text === null) throw new Error('This output is no longer kept.')
    return text
  }
  const show = async () => {
    const text = await read()
    const more = text.length > SHOWN_CHARACTERS_MAX
    shown.textContent = `${indented(text, SHOWN_CHARACTERS_MAX)}${more ? '\n… Download has all of it.' : ''}`
    shown.hidden = false
  }
  const save = async () => download(`${nodeId}.json`, 'application/json', await read())
  return element(
    'section',
    { class: 'output', 'aria-label': nodeId },
    element(
      'div',
      { class: 'row' },
      element('h3', {}, nodeId),
      element('span', { class: 'meaning' }, `${bytesText(outputBytes)}, SHA-256 `),
      hashButton(outputDigest),
      areKept ? form('Show', show) : null,
      areKept ? form('Download', save) : null,
    ),
    shown,
  )
}
