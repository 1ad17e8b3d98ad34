/** The bar between editor and result: dragged with a pointer, moved with arrow keys. */

const STEP_PX = 24
const HEIGHT_PX_MIN = 72

export function wireSplitter(bar: HTMLElement, above: HTMLElement): void {
  const set = (height: number) => {
    const most = Math.max(HEIGHT_PX_MIN, window.innerHeight - 260)
    const px = Math.round(Math.max(HEIGHT_PX_MIN, Math.min(most, height)))
    above.style.height = `${px}px`
    bar.setAttribute('aria-valuenow', `${px}`)
    bar.setAttribute('aria-valuemin', `${HEIGHT_PX_MIN}`)
    bar.setAttribute('aria-valuemax', `${most}`)
  }
  bar.addEventListener('pointerdown', (down) => {
    down.preventDefault()
    bar.setPointerCapture(down.pointerId)
    const begun = { height: above.offsetHeight, y: down.clientY }
    const move = (event: PointerEvent) => set(begun.height + event.clientY - begun.y)
    bar.addEventListener('pointermove', move)
    bar.addEventListener('lostpointercapture', () => bar.removeEventListener('pointermove', move), {
      once: true,
    })
  })
  bar.addEventListener('keydown', (event) => {
    const step = { ArrowUp: -STEP_PX, ArrowDown: STEP_PX }[event.key]
    if (step === undefined) return
    event.preventDefault()
    set(above.offsetHeight + step)
  })
  set(above.offsetHeight)
}
