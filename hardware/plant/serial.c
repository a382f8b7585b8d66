/* SPDX-License-Identifier: AGPL-3.0-or-later */
#include "serial.h"

#include <avr_uart.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define BITS_PER_BYTE 10u /* 8N1 */

static void on_output(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    serial_t *s = param;
    s->spoken = true;
    if (s->out_end < SERIAL_BUFFER) { /* else lost, as on a wire that nobody reads */
        s->out[s->out_end++] = (uint8_t)value;
    }
}

static void on_ready(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)value;
    ((serial_t *)param)->ready = true;
}

static void on_full(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)value;
    ((serial_t *)param)->ready = false;
}

const char *serial_open(serial_t *s, const char *link) {
    struct termios raw;
    struct stat found;
    if (openpty(&s->near, &s->far, NULL, NULL, NULL) != 0) {
        return strerror(errno);
    }
    tcgetattr(s->far, &raw);
    cfmakeraw(&raw);
    tcsetattr(s->far, TCSANOW, &raw);
    fcntl(s->near, F_SETFL, O_NONBLOCK);
    s->link = link;
    if (lstat(link, &found) == 0 && !S_ISLNK(found.st_mode)) {
        return "the pty's name exists and is no symbolic link";
    }
    unlink(link);
    return symlink(ttyname(s->far), link) == 0 ? NULL : strerror(errno);
}

void serial_attach(serial_t *s, avr_t *avr, uint32_t baud) {
    s->avr = avr;
    s->cycles_per_byte = (uint64_t)avr->frequency * BITS_PER_BYTE / baud;
    s->ready = true;
    uint32_t flags = 0; /* no text on our standard output, no sleeping of its own */
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    s->input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    avr_irq_register_notify(
        avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, s);
    avr_irq_register_notify(
        avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), on_ready, s);
    avr_irq_register_notify(
        avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), on_full, s);
}

void serial_step(serial_t *s, bool powered) {
    if (s->in_at == s->in_end || s->avr->cycle < s->next_byte || (powered && !s->ready)) {
        return;
    }
    uint8_t byte = s->in[s->in_at++];
    s->next_byte = s->avr->cycle + s->cycles_per_byte;
    if (powered) {
        avr_raise_irq(s->input, byte);
    }
}

void serial_exchange(serial_t *s) {
    if (s->out_end > 0) {
        ssize_t written = write(s->near, s->out, s->out_end);
        (void)written; /* a host that does not read loses bytes */
        s->out_end = 0;
    }
    if (s->in_at == s->in_end) {
        ssize_t count = read(s->near, s->in, sizeof s->in);
        s->in_at = 0;
        s->in_end = count > 0 ? (size_t)count : 0;
    }
}

void serial_drop(serial_t *s) {
    s->in_at = s->in_end = s->out_end = 0;
    s->ready = true;
}

void serial_close(serial_t *s) {
    if (s->link != NULL) {
        unlink(s->link);
    }
    close(s->near);
    close(s->far);
}
