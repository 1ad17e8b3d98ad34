/** Blocks of an epoch on Tempo's networks. Keys may change only between two. */
export const EPOCH_BLOCKS = 21_600

export const epochOf = (height: number, epochBlocks: number): number => Math.floor(height / epochBlocks)

/** Whether it is the last block of its epoch, whose `extraData` tells the next one's key. */
export const isBoundary = (height: number, epochBlocks: number): boolean => (height + 1) % epochBlocks === 0
