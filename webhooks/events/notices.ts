/** webhook:disabled: another subscription of the owner was disabled. It is on no chain. */
import { readFields } from '../filters/eventFilter.ts'
import { defineEventType, nothingNeeded } from './eventType.ts'

export const webhookDisabled = defineEventType<never>({
  type: 'webhook:disabled',
  description:
    'A subscription of the same owner was disabled: by its owner, because its endpoint failed, or paused for too long.',
  stream: 'blocks',
  table: 'blocks',
  needsFilters: false,
  filterForms: {},
  isOnChain: false,
  isExtension: true,
  read: (filters) => ({
    filter: readFields({}, filters),
    form: 'notice',
    needs: nothingNeeded,
    data: () => ({}),
  }),
  eventsOf: () => [],
  placeOf: () => ({ blockNumber: 0, index: 0 }),
})
