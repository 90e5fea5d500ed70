/* Reads the accessibility tree of all applications, fast, and writes it as XML in OSWorld's format.
 *
 * A child of the guest helper; its argument is the address of the accessibility bus. For each line
 * "BUDGET_MS MAX_NODES MAX_TEXT" on stdin it writes one line of JSON, {"size": N, "nodes": .., "cut": ..,
 * "seconds": .., "apps": [..]}, and N bytes of XML, until stdin ends (status 0) or the bus does (status 1).
 *
 * How it is fast: Collection.GetMatches lists the live accessibles of an application in document order in one call,
 * Cache.GetItems gives the attributes of most of them (and of dead ones, which do not count) in another. Only what is
 * missing is asked for: all facts of accessibles that are not cached, extents, text and values of those that show.
 * All calls to all applications are under way at once, over private sockets to the application where it has them:
 * several, since a program's main loop takes one message of each socket in a turn, and a turn costs as much again.
 * Programs without Collection (Qt) are walked, also with all calls of a level under way.
 *
 * It speaks D-Bus itself, the little that it needs (method calls, little-endian), and so needs nothing but libc.
 * Build: cc -std=gnu11 -O2 -Wall -Wextra -Werror -o atspi-tree atspi-tree.c
 *
 * helper_lib/tree.py is the readable model of this program and its fallback; both write the same bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ROOT "/org/a11y/atspi/accessible/root"
#define BUS "org.freedesktop.DBus"
#define REGISTRY "org.a11y.atspi.Registry"
#define ACCESSIBLE "org.a11y.atspi.Accessible"
#define PROPERTIES "org.freedesktop.DBus.Properties"

enum {
    MAX_APPS = 100,
    SOCKETS = 8,                /* private ones to an application */
    MAX_NAME = 10000,           /* characters of a name */
    MAX_MESSAGE = 64 << 20,     /* bytes of one D-Bus message */
    MAX_XML = 32 << 20,
    MAX_UNSENT = 1 << 20,       /* an application that leaves this much unread is not asked again */
    BATCH_NS = 300000,          /* answers come one by one: taking some together saves waking up for each */
    SUSPECT_MS = 50,            /* what an application that did not answer last time gets for its first answer */
};

enum { COMPONENT = 1, TEXT = 2, VALUE = 4, IMAGE = 8, SELECTION = 16 };
enum { SHOWING = 25, VISIBLE = 30 };

static const char *const interface_names[] = {"Component", "Text", "Value", "Image", "Selection"};

static const char *const states[] = {
    "invalid", "active", "armed", "busy", "checked", "collapsed", "defunct", "editable", "enabled", "expandable",
    "expanded", "focusable", "focused", "has_tooltip", "horizontal", "iconified", "modal", "multi_line",
    "multiselectable", "opaque", "pressed", "resizable", "selectable", "selected", "sensitive", "showing",
    "single_line", "stale", "transient", "vertical", "visible", "manages_descendants", "indeterminate", "required",
    "truncated", "animated", "invalid_entry", "supports_autocompletion", "selectable_text", "is_default", "visited",
    "checkable", "has_popup", "read_only"};

/* By number, as libatspi names them, with '-' for ' '. */
static const char *const roles[] = {
    "invalid", "accelerator-label", "alert", "animation", "arrow", "calendar", "canvas", "check-box",
    "check-menu-item", "color-chooser", "column-header", "combo-box", "date-editor", "desktop-icon",
    "desktop-frame", "dial", "dialog", "directory-pane", "drawing-area", "file-chooser", "filler",
    "focus-traversable", "font-chooser", "frame", "glass-pane", "html-container", "icon", "image",
    "internal-frame", "label", "layered-pane", "list", "list-item", "menu", "menu-bar", "menu-item", "option-pane",
    "page-tab", "page-tab-list", "panel", "password-text", "popup-menu", "progress-bar", "push-button",
    "radio-button", "radio-menu-item", "root-pane", "row-header", "scroll-bar", "scroll-pane", "separator",
    "slider", "spin-button", "split-pane", "status-bar", "table", "table-cell", "table-column-header",
    "table-row-header", "tearoff-menu-item", "terminal", "text", "toggle-button", "tool-bar", "tool-tip", "tree",
    "tree-table", "unknown", "viewport", "window", "extended", "header", "footer", "paragraph", "ruler",
    "application", "autocomplete", "editbar", "embedded", "entry", "chart", "caption", "document-frame", "heading",
    "page", "section", "redundant-object", "form", "link", "input-method-window", "table-row", "tree-item",
    "document-spreadsheet", "document-presentation", "document-text", "document-web", "document-email", "comment",
    "list-box", "grouping", "image-map", "notification", "info-bar", "level-bar", "title-bar", "block-quote",
    "audio", "video", "definition", "article", "landmark", "log", "marquee", "math", "rating", "timer", "static",
    "math-fraction", "math-root", "subscript", "superscript", "description-list", "description-term",
    "description-value", "footnote", "content-deletion", "content-insertion", "mark", "suggestion",
    "push-button-menu"};
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const char head[] = "<desktop-frame"
#define NS(prefix, name) " xmlns:" prefix "=\"https://accessibility.ubuntu.example.org/ns/" name "\""
    NS("st", "state") NS("attr", "attributes") NS("cp", "component") NS("doc", "document")
    NS("docattr", "document/attributes") NS("txt", "text") NS("val", "value") NS("act", "action");

/* ---- time and memory ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void *checked(void *memory)
{
    if (!memory)
        abort(); /* the helper starts another */
    return memory;
}

typedef struct {
    char *data;
    size_t length, room;
} Buffer;

static void reserve(Buffer *b, size_t more)
{
    if (b->length + more > b->room) {
        b->room = (b->length + more) * 2;
        b->data = checked(realloc(b->data, b->room));
    }
}

static void append(Buffer *b, const void *data, size_t length)
{
    reserve(b, length);
    memcpy(b->data + b->length, data, length);
    b->length += length;
}

/* Memory that lives until the answer is written. */
typedef struct Block {
    struct Block *next;
    char data[];
} Block;

static Block *arena;
static size_t arena_left;
static char *arena_at;

static char *keep(const char *text, size_t length)
{
    if (length + 1 > arena_left) {
        size_t size = length + 1 > 65536 ? length + 1 : 65536;
        Block *block = checked(malloc(sizeof *block + size));
        block->next = arena;
        arena = block;
        arena_at = block->data;
        arena_left = size;
    }
    char *copy = arena_at;
    memcpy(copy, text, length);
    copy[length] = 0;
    arena_at += length + 1;
    arena_left -= length + 1;
    return copy;
}

static void forget_all(void)
{
    while (arena) {
        Block *next = arena->next;
        free(arena);
        arena = next;
    }
    arena_left = 0;
}

/* ---- D-Bus: what a message says ---- */

typedef struct {
    const uint8_t *data;
    size_t at, length;
    bool bad; /* something did not fit: all later reads give 0 or "" */
} Reader;

static bool has(Reader *r, size_t length)
{
    if (r->bad || length > r->length - r->at)
        r->bad = true;
    return !r->bad;
}

static void align(Reader *r, size_t unit)
{
    size_t gap = -r->at & (unit - 1);
    if (has(r, gap))
        r->at += gap;
}

static void read_bytes(Reader *r, void *to, size_t length)
{
    memset(to, 0, length);
    if (has(r, length)) {
        memcpy(to, r->data + r->at, length);
        r->at += length;
    }
}

static uint32_t read_u32(Reader *r)
{
    uint32_t value;
    align(r, 4);
    read_bytes(r, &value, 4);
    return value;
}

static uint8_t read_u8(Reader *r)
{
    uint8_t value;
    read_bytes(r, &value, 1);
    return value;
}

static const char *read_chars(Reader *r, size_t length)
{
    if (!has(r, length + 1) || r->data[r->at + length]) {
        r->bad = true;
        return "";
    }
    const char *text = (const char *)r->data + r->at;
    r->at += length + 1;
    return text;
}

static const char *read_string(Reader *r)
{
    return read_chars(r, read_u32(r));
}

static const char *read_signature(Reader *r)
{
    return read_chars(r, read_u8(r));
}

/* Enter an array whose elements are aligned to `unit`; give where it ends. */
static size_t read_array(Reader *r, size_t unit)
{
    uint32_t length = read_u32(r);
    align(r, unit);
    return has(r, length) ? r->at + length : r->at;
}

static bool more(Reader *r, size_t end)
{
    return !r->bad && r->at < end;
}

/* A reference (so); `bus` may be null. */
static const char *read_reference(Reader *r, const char **bus)
{
    align(r, 8);
    const char *name = read_string(r);
    if (bus)
        *bus = name;
    return read_string(r);
}

static uint64_t read_states(Reader *r)
{
    uint64_t bits = 0;
    size_t end = read_array(r, 4);
    for (int shift = 0; more(r, end); shift += 32) {
        uint64_t word = read_u32(r);
        bits |= shift < 64 ? word << shift : 0;
    }
    return bits;
}

static unsigned read_interfaces(Reader *r)
{
    static const char prefix[] = "org.a11y.atspi.";
    unsigned bits = 0;
    size_t end = read_array(r, 4);
    while (more(r, end)) {
        const char *name = read_string(r);
        if (strncmp(name, prefix, sizeof prefix - 1))
            continue;
        for (int i = 0; i < COUNT(interface_names); i++)
            if (!strcmp(name + sizeof prefix - 1, interface_names[i]))
                bits |= 1u << i;
    }
    return bits;
}

/* ---- D-Bus: connections and calls ---- */

typedef struct Application Application;

/* What a call asks, hence what to do with its answer. */
typedef enum {
    NOTHING, ASK_APPLICATIONS, ASK_ADDRESS, ASK_MATCHES, ASK_ITEMS, ASK_ROLE, ASK_STATES, ASK_INTERFACES, ASK_NAME,
    ASK_PARENT, ASK_CHILDREN, ASK_EXTENTS, ASK_TEXT, ASK_VALUE, ASK_MINIMUM, ASK_MAXIMUM, ASK_STEP,
} Question;

typedef struct {
    Application *application;
    int node;
    Question question;
} Call;

typedef struct {
    int fd;
    bool authenticated;
    uint32_t serial, first;     /* the last serial used; the first of this request */
    Buffer in, out;
    size_t sent, message, body; /* of `out`: what is sent; where the message being made, and its body, start */
    Call *calls;                /* of this request, by serial - first */
    size_t call_room;
} Connection;

static Connection *bus;
static int under_way;
static double deadline;

static void put_padding(Connection *c, size_t unit)
{
    static const char zeros[8];
    append(&c->out, zeros, -(c->out.length - c->message) & (unit - 1));
}

static void put_u32(Connection *c, uint32_t value)
{
    put_padding(c, 4);
    append(&c->out, &value, 4);
}

static void put_string(Connection *c, const char *text)
{
    put_u32(c, strlen(text));
    append(&c->out, text, strlen(text) + 1);
}

static void put_field(Connection *c, uint8_t code, const char *type, const char *text)
{
    if (!text)
        return;
    put_padding(c, 8);
    append(&c->out, &code, 1);
    append(&c->out, &(char){1}, 1);
    append(&c->out, type, 2);
    if (*type == 'g') {
        append(&c->out, &(char){strlen(text)}, 1);
        append(&c->out, text, strlen(text) + 1);
    } else {
        put_string(c, text);
    }
}

static void begin_call(Connection *c, const char *to, const char *path, const char *interface, const char *method,
                       const char *signature)
{
    static const uint8_t start[] = {'l', 1, 2, 1}; /* a call that starts no service */
    c->message = c->out.length;
    append(&c->out, start, 4);
    put_u32(c, 0); /* length of the body, filled in by end_call */
    put_u32(c, ++c->serial);
    put_u32(c, 0); /* length of the fields */
    put_field(c, 1, "o", path);
    put_field(c, 2, "s", interface);
    put_field(c, 3, "s", method);
    put_field(c, 6, "s", to);
    put_field(c, 8, "g", signature);
    uint32_t length = c->out.length - c->message - 16;
    memcpy(c->out.data + c->message + 12, &length, 4);
    put_padding(c, 8);
    c->body = c->out.length;
}

static void end_call(Connection *c, Application *application, int node, Question question);

static Connection *connect_to(const char *address)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const char *path = strstr(address, "path="), *abstract = strstr(address, "abstract=");
    if (strncmp(address, "unix:", 5) || !(path || abstract))
        return NULL;
    size_t length = path ? 0 : 1;
    for (const char *p = path ? path + 5 : abstract + 9; *p && !strchr(",;", *p); p++) {
        unsigned code;
        if (length == sizeof name.sun_path - 1)
            return NULL;
        if (*p == '%' && sscanf(p + 1, "%2x", &code) == 1 && p[2]) {
            name.sun_path[length++] = code;
            p += 2;
        } else {
            name.sun_path[length++] = *p;
        }
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    if (connect(fd, (struct sockaddr *)&name, offsetof(struct sockaddr_un, sun_path) + length)) {
        close(fd);
        return NULL;
    }
    Connection *c = checked(calloc(1, sizeof *c));
    c->fd = fd;
    c->first = 1;
    char uid[16], hello[96] = "";
    int digits = snprintf(uid, sizeof uid, "%u", getuid());
    size_t used = 1 + sprintf(hello + 1, "AUTH EXTERNAL ");
    for (int i = 0; i < digits; i++)
        used += sprintf(hello + used, "%02x", uid[i]);
    used += sprintf(hello + used, "\r\nBEGIN\r\n");
    append(&c->out, hello, used);
    return c;
}

static void disconnect(Connection *c)
{
    if (!c)
        return;
    close(c->fd);
    free(c->in.data);
    free(c->out.data);
    free(c->calls);
    free(c);
}

static bool flush_out(Connection *c)
{
    while (c->sent < c->out.length) {
        ssize_t n = send(c->fd, c->out.data + c->sent, c->out.length - c->sent, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        c->sent += n;
    }
    c->sent = c->out.length = 0;
    return true;
}

/* ---- applications and their accessibles ---- */

typedef struct {
    const char *path, *parent_path, *name, *text;
    uint64_t states;
    double values[4];
    int role, parent, first, last, next; /* role -1: nothing is known; the others are indices, 0 for none */
    int extents[4];
    uint8_t interfaces, has_values;
    bool has_extents, filled;
} Node;

struct Application {
    char bus_name[64];
    Connection *sockets[SOCKETS]; /* private ones; all null: it is asked over the bus */
    char *address;              /* for private sockets, once known; empty when there is none */
    bool suspect;               /* did not answer at all last time */
    /* of this request: */
    bool present, walked, heard, cut;
    int waiting;
    Node *nodes;                /* the root first, then in document order */
    int count, room;
    int *table;                 /* path -> index + 1, open addressing */
    size_t slots;
    double seconds;
};

static Application applications[MAX_APPS];
static int application_count;
static int max_nodes, max_text;
static double started;

static void end_call(Connection *c, Application *application, int node, Question question)
{
    uint32_t length = c->out.length - c->body;
    memcpy(c->out.data + c->message + 4, &length, 4);
    size_t place = c->serial - c->first;
    if (place >= c->call_room) {
        c->call_room = place * 2 + 64;
        c->calls = checked(realloc(c->calls, c->call_room * sizeof *c->calls));
    }
    c->calls[place] = (Call){application, node, question};
    under_way++;
    if (application)
        application->waiting++;
}

static size_t hash(const char *text)
{
    size_t value = 14695981039346656037u;
    for (; *text; text++)
        value = (value ^ (uint8_t)*text) * 1099511628211u;
    return value;
}

static int *slot_of(Application *a, const char *path)
{
    size_t place = hash(path) & (a->slots - 1);
    while (a->table[place] && strcmp(a->nodes[a->table[place] - 1].path, path))
        place = (place + 1) & (a->slots - 1);
    return &a->table[place];
}

/* Add an accessible unless it is there already; give its index, or -1. */
static int add_node(Application *a, const char *path)
{
    if (a->count * 2 >= (int)a->slots) {
        a->slots = a->slots ? a->slots * 2 : 256;
        free(a->table);
        a->table = checked(calloc(a->slots, sizeof *a->table));
        for (int i = 0; i < a->count; i++)
            *slot_of(a, a->nodes[i].path) = i + 1;
    }
    int *slot = slot_of(a, path);
    if (*slot)
        return -1;
    if (a->count == a->room) {
        a->room = a->room ? a->room * 2 : 256;
        a->nodes = checked(realloc(a->nodes, a->room * sizeof *a->nodes));
    }
    a->nodes[a->count] = (Node){.path = keep(path, strlen(path)), .name = "", .text = "", .role = -1};
    *slot = a->count + 1;
    return a->count++;
}

static void close_sockets(Application *a)
{
    for (int i = 0; i < SOCKETS; i++) {
        disconnect(a->sockets[i]);
        a->sockets[i] = NULL;
    }
}

static void open_sockets(Application *a)
{
    for (int i = 0; i < SOCKETS; i++) {
        if (!a->sockets[i])
            a->sockets[i] = connect_to(a->address);
        if (a->sockets[i])
            a->sockets[i]->first = a->sockets[i]->serial + 1;
    }
}

static size_t unsent(Application *a)
{
    size_t sum = 0;
    for (int i = 0; i < SOCKETS; i++)
        sum += a->sockets[i] ? a->sockets[i]->out.length - a->sockets[i]->sent : 0;
    return sum;
}

static Connection *begin_at(Application *a, int node, const char *path, const char *interface, const char *method,
                            const char *signature)
{
    Connection *c = a->sockets[node % SOCKETS]; /* calls about one accessible are answered in their order */
    if (!c)
        c = bus;
    begin_call(c, c == bus ? a->bus_name : NULL, path, interface, method, signature);
    return c;
}

static Connection *begin(Application *a, int node, const char *interface, const char *method, const char *signature)
{
    return begin_at(a, node, a->nodes[node].path, interface, method, signature);
}

static void ask(Application *a, int node, const char *interface, const char *method, Question question)
{
    end_call(begin(a, node, interface, method, NULL), a, node, question);
}

static void ask_property(Application *a, int node, const char *interface, const char *name, Question question)
{
    Connection *c = begin(a, node, PROPERTIES, "Get", "ss");
    put_string(c, interface);
    put_string(c, name);
    end_call(c, a, node, question);
}

static void ask_facts(Application *a, int node)
{
    ask(a, node, ACCESSIBLE, "GetRole", ASK_ROLE);
    ask(a, node, ACCESSIBLE, "GetState", ASK_STATES);
    ask_property(a, node, ACCESSIBLE, "Name", ASK_NAME);
    ask(a, node, ACCESSIBLE, "GetInterfaces", ASK_INTERFACES); /* the last: its answer leads to the details */
}

static void ask_details(Application *a, int node)
{
    static const char *const values[] = {"CurrentValue", "MinimumValue", "MaximumValue", "MinimumIncrement"};
    Node *n = &a->nodes[node];
    if (!(n->states >> SHOWING & 1))
        return;
    if (n->interfaces & COMPONENT && n->states >> VISIBLE & 1) {
        Connection *c = begin(a, node, "org.a11y.atspi.Component", "GetExtents", "u");
        put_u32(c, 0); /* on the screen */
        end_call(c, a, node, ASK_EXTENTS);
    }
    if (n->interfaces & TEXT && max_text) {
        Connection *c = begin(a, node, "org.a11y.atspi.Text", "GetText", "ii");
        put_u32(c, 0);
        put_u32(c, a->walked ? -1 : max_text); /* Qt gives nothing when the end lies behind the text */
        end_call(c, a, node, ASK_TEXT);
    }
    for (int i = 0; n->interfaces & VALUE && i < 4; i++)
        ask_property(a, node, "org.a11y.atspi.Value", values[i], ASK_VALUE + i);
}

/* Forget the last request; only the root is known. */
static void prepare(Application *a)
{
    a->count = a->waiting = 0;
    a->walked = a->heard = a->cut = false;
    if (a->table)
        memset(a->table, 0, a->slots * sizeof *a->table);
    add_node(a, ROOT);
}

static void start(Application *a)
{
    prepare(a);
    ask_facts(a, 0);
    Connection *c = begin(a, 0, "org.a11y.atspi.Collection", "GetMatches", "(aiia{ss}iaiiasib)uib");
    put_padding(c, 8);
    put_u32(c, 0); /* any states, */
    put_u32(c, 1);
    put_u32(c, 0); /* any attributes, */
    put_padding(c, 8);
    put_u32(c, 1);
    put_u32(c, 0); /* any roles, */
    put_u32(c, 1);
    put_u32(c, 0); /* any interfaces */
    put_u32(c, 1);
    put_u32(c, 0);
    put_u32(c, 1); /* in document order, */
    put_u32(c, max_nodes);
    put_u32(c, 1); /* at any depth */
    end_call(c, a, 0, ASK_MATCHES);
    c = begin_at(a, 0, "/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems", NULL);
    end_call(c, a, 0, ASK_ITEMS);
}

static void ask_address(Application *a)
{
    begin_call(bus, a->bus_name, ROOT, "org.a11y.atspi.Application", "GetApplicationBusAddress", NULL);
    end_call(bus, a, 0, ASK_ADDRESS);
}

/* Start with a known application, or ask a new one for its address first. */
static void enlist(const char *bus_name)
{
    Application *a = applications;
    while (a < applications + application_count && strcmp(a->bus_name, bus_name))
        a++;
    bool known = a < applications + application_count;
    if (known ? a->present : application_count == MAX_APPS || strlen(bus_name) >= sizeof a->bus_name)
        return;
    if (!known) {
        *a = (Application){0};
        strcpy(a->bus_name, bus_name);
        application_count++;
    }
    a->present = true;
    prepare(a);
    if (!a->address) {
        ask_address(a);
        return;
    }
    open_sockets(a);
    if (unsent(a) > MAX_UNSENT)
        a->cut = true;
    else
        start(a);
}

/* ---- answers ---- */

static void take_items(Application *a, Reader *r)
{
    size_t end = read_array(r, 8);
    while (more(r, end)) {
        align(r, 8);
        const char *path = read_reference(r, NULL);
        read_reference(r, NULL);
        const char *parent = read_reference(r, NULL);
        read_u32(r);
        read_u32(r);
        unsigned interfaces = read_interfaces(r);
        const char *name = read_string(r);
        int role = read_u32(r);
        read_string(r);
        uint64_t bits = read_states(r);
        int *slot = slot_of(a, path);
        if (r->bad || *slot < 2) /* dead, or the root, which is asked for */
            continue;
        Node *n = &a->nodes[*slot - 1];
        n->filled = true;
        n->parent_path = keep(parent, strlen(parent));
        n->name = keep(name, strlen(name));
        n->role = role;
        n->states = bits;
        n->interfaces = interfaces;
    }
}

static void take_matches(Application *a, Reader *r)
{
    int listed = 0;
    size_t end = read_array(r, 8);
    for (; more(r, end); listed++) {
        const char *path = read_reference(r, NULL);
        if (!r->bad)
            add_node(a, path);
    }
    a->cut |= listed >= max_nodes;
}

static void take_children(Application *a, int parent, Reader *r)
{
    size_t end = read_array(r, 8);
    while (more(r, end)) {
        const char *owner, *path = read_reference(r, &owner);
        if (a->count > max_nodes)
            a->cut = true;
        if (r->bad || a->cut || strcmp(owner, a->bus_name))
            continue;
        int child = add_node(a, path);
        if (child < 0)
            continue;
        a->nodes[child].parent_path = a->nodes[parent].path;
        ask_facts(a, child);
        ask(a, child, ACCESSIBLE, "GetChildren", ASK_CHILDREN);
    }
}

/* The answers about which accessibles there are. A failed call has an empty body. */
static void take_structure(Application *a, int node, Question question, Reader *r, bool failed)
{
    switch (question) {
    case ASK_ADDRESS:
        a->address = checked(strdup(failed ? "" : read_string(r)));
        open_sockets(a);
        start(a);
        break;
    case ASK_MATCHES:
        a->walked = failed;
        if (failed)
            ask(a, 0, ACCESSIBLE, "GetChildren", ASK_CHILDREN);
        else
            take_matches(a, r);
        break;
    case ASK_ITEMS:
        if (a->walked)
            break;
        if (!failed)
            take_items(a, r);
        for (int i = 1; i < a->count; i++) {
            if (a->nodes[i].filled) {
                ask_details(a, i);
            } else {
                ask_property(a, i, ACCESSIBLE, "Parent", ASK_PARENT);
                ask_facts(a, i);
            }
        }
        break;
    default:
        take_children(a, node, r);
    }
}

/* Enter a variant; give the type in it. */
static char read_variant(Reader *r)
{
    return *read_signature(r);
}

static void take_value(Node *n, int which, Reader *r)
{
    double value = 0;
    switch (read_variant(r)) {
    case 'd':
        align(r, 8);
        read_bytes(r, &value, 8);
        break;
    case 'i':
        value = (int32_t)read_u32(r);
        break;
    case 'u':
        value = read_u32(r);
        break;
    default:
        return;
    }
    n->values[which] = value;
    n->has_values |= !r->bad << which;
}

/* The answers about one accessible. */
static void take_fact(Application *a, int node, Question question, Reader *r)
{
    Node *n = &a->nodes[node];
    const char *text;
    switch (question) {
    case ASK_ROLE:
        n->role = read_u32(r);
        break;
    case ASK_STATES:
        n->states = read_states(r);
        break;
    case ASK_INTERFACES:
        n->interfaces = read_interfaces(r);
        ask_details(a, node);
        break;
    case ASK_NAME:
        text = read_variant(r) == 's' ? read_string(r) : "";
        n->name = keep(text, strlen(text));
        break;
    case ASK_PARENT:
        text = read_variant(r) == '(' ? read_reference(r, NULL) : "";
        n->parent_path = keep(text, strlen(text));
        break;
    case ASK_EXTENTS:
        align(r, 8);
        for (int i = 0; i < 4; i++)
            n->extents[i] = read_u32(r);
        n->has_extents = !r->bad;
        break;
    case ASK_TEXT:
        text = read_string(r);
        n->text = keep(text, strlen(text));
        break;
    default:
        take_value(n, question - ASK_VALUE, r);
    }
}

static void take_applications(Reader *r)
{
    size_t end = read_array(r, 8);
    while (more(r, end)) {
        const char *bus_name;
        read_reference(r, &bus_name);
        if (!r->bad)
            enlist(bus_name);
    }
}

static void take_answer(Connection *c, uint32_t serial, Reader *r, bool failed)
{
    if (serial < c->first || serial > c->serial)
        return; /* of an earlier request, or of none */
    uint32_t place = serial - c->first;
    Call call = c->calls[place];
    Application *a = call.application;
    c->calls[place].question = NOTHING;
    if (call.question == NOTHING || (a && !a->waiting)) /* answered twice, or given up */
        return;
    under_way--;
    if (a) {
        a->heard = true;
        a->waiting--;
    }
    if (call.question == ASK_APPLICATIONS)
        take_applications(r);
    else if (call.question <= ASK_ITEMS || call.question == ASK_CHILDREN)
        take_structure(a, call.node, call.question, r, failed);
    else if (!failed)
        take_fact(a, call.node, call.question, r);
    if (a && !a->waiting)
        a->seconds = now() - started;
}

static void take_message(Connection *c, const uint8_t *message, size_t length, size_t body)
{
    Reader fields = {message, 12, body, false};
    uint32_t serial = 0;
    size_t end = read_array(&fields, 8);
    while (more(&fields, end)) {
        align(&fields, 8);
        uint8_t code = read_u8(&fields);
        char type = read_variant(&fields);
        if (type == 'g')
            read_signature(&fields);
        else if (type == 's' || type == 'o')
            read_string(&fields);
        else if (type == 'u' && code == 5)
            serial = read_u32(&fields);
        else if (type == 'u')
            read_u32(&fields);
        else
            fields.bad = true;
    }
    Reader r = {message + body, 0, length - body, false};
    if (!fields.bad && serial && (message[1] == 2 || message[1] == 3))
        take_answer(c, serial, &r, message[1] == 3);
}

/* Take complete messages from the front of `in`; give false when the other end speaks nonsense. */
static bool take_messages(Connection *c)
{
    size_t at = 0;
    if (!c->authenticated) {
        char *end = memmem(c->in.data, c->in.length, "\r\n", 2);
        if (!end)
            return c->in.length < 1024;
        if (c->in.length < 3 || memcmp(c->in.data, "OK ", 3))
            return false;
        at = end + 2 - c->in.data;
        c->authenticated = true;
    }
    while (c->in.length - at >= 16) {
        const uint8_t *message = (uint8_t *)c->in.data + at;
        uint32_t body_length, fields_length;
        memcpy(&body_length, message + 4, 4);
        memcpy(&fields_length, message + 12, 4);
        if (message[0] != 'l' || body_length > MAX_MESSAGE || fields_length > MAX_MESSAGE)
            return false;
        size_t body = (16 + (size_t)fields_length + 7) & ~(size_t)7;
        if (c->in.length - at < body + body_length)
            break;
        take_message(c, message, body + body_length, body);
        at += body + body_length;
    }
    memmove(c->in.data, c->in.data + at, c->in.length - at);
    c->in.length -= at;
    return true;
}

/* Read what is there and take it; give false when the connection is over. */
static bool receive(Connection *c)
{
    for (;;) {
        reserve(&c->in, 1 << 14);
        ssize_t n = read(c->fd, c->in.data + c->in.length, c->in.room - c->in.length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        if (n == 0)
            return false;
        bool full = (size_t)n == c->in.room - c->in.length;
        c->in.length += n;
        if (!take_messages(c))
            return false;
        if (!full)
            return true;
    }
}

/* ---- the loop ---- */

/* Ask no more; what has come so far is what there is. */
static void give_up(Application *a)
{
    under_way -= a->waiting;
    a->waiting = 0;
    a->cut = true;
    a->seconds = now() - started;
}

/* Send, wait for something at most until `until` (negative: for ever, or until there is input), take it. */
static void turn(double until)
{
    struct pollfd polls[MAX_APPS * SOCKETS + 2];
    struct {
        Application *application;
        Connection *socket;
    } owners[MAX_APPS * SOCKETS + 2];
    int count = 0;
    polls[count++] = (struct pollfd){.fd = until < 0 ? 0 : -1, .events = POLLIN};
    polls[count++] = (struct pollfd){.fd = bus->fd, .events = POLLIN};
    if (!flush_out(bus))
        exit(1);
    if (bus->out.length)
        polls[1].events |= POLLOUT;
    for (int i = 0; i < application_count * SOCKETS; i++) {
        Application *a = &applications[i / SOCKETS];
        Connection *c = a->sockets[i % SOCKETS];
        if (!c)
            continue;
        flush_out(c); /* an error shows again when reading */
        owners[count].application = a;
        owners[count].socket = c;
        polls[count++] = (struct pollfd){.fd = c->fd, .events = POLLIN | (c->out.length ? POLLOUT : 0)};
    }
    double left = until - now();
    int ready = poll(polls, count, until < 0 ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0);
    if (ready > 0 && polls[1].revents & ~POLLOUT && !receive(bus))
        exit(1);
    for (int i = 2; i < count && ready > 0; i++) {
        Application *a = owners[i].application;
        if (!(polls[i].revents & ~POLLOUT) || receive(owners[i].socket))
            continue;
        a->address[0] = 0; /* it has ended; should it live, it is asked over the bus from now on */
        if (a->waiting)
            give_up(a);
    }
    for (int i = 0; i < application_count; i++)
        if (applications[i].address && !*applications[i].address)
            close_sockets(&applications[i]);
}

static void wait_for_answers(void)
{
    bool patient = true;
    double patience = started + SUSPECT_MS / 1000.0;
    while (under_way && now() < deadline) {
        nanosleep(&(struct timespec){.tv_nsec = BATCH_NS}, NULL);
        turn(patient && patience < deadline ? patience : deadline);
        if (!patient || now() < patience)
            continue;
        patient = false;
        for (int i = 0; i < application_count; i++)
            if (applications[i].suspect && applications[i].waiting && !applications[i].heard)
                give_up(&applications[i]);
    }
}

/* ---- XML ---- */

static Buffer xml;
static int written;
static bool cut;

/* Decode one character of UTF-8 and move on; give -1 for a byte that starts none. */
static int32_t next_character(const char **text)
{
    static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)(*text)++;
    int follow = *p < 0x80 ? 0 : *p >= 0xf0 && *p < 0xf8 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : -1;
    if (follow < 1 || *p >= 0xf8)
        return follow ? -1 : *p;
    int32_t value = *p & (0x3f >> follow);
    for (int i = 1; i <= follow; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return -1;
        value = value << 6 | (p[i] & 0x3f);
    }
    if (value < least[follow] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return -1;
    *text += follow;
    return value;
}

static void put_plain(const char *text)
{
    append(&xml, text, strlen(text));
}

static bool is_legal(int32_t c)
{
    return c >= 0x20 ? c != 0xfffe && c != 0xffff : c == '\t' || c == '\n' || c == '\r';
}

/* Write at most `limit` characters. What XML cannot hold becomes U+FFFD in attributes and is left out of text, as
 * are the marks of embedded objects. */
static void put_escaped(const char *text, int limit, bool attribute)
{
    while (*text && limit-- > 0) {
        const char *start = text;
        int32_t c = next_character(&text);
        bool legal = is_legal(c);
        if (c == '&')
            put_plain("&amp;");
        else if (c == '<')
            put_plain("&lt;");
        else if (c == '>')
            put_plain("&gt;");
        else if (c == '\r')
            put_plain("&#13;");
        else if (attribute && c == '"')
            put_plain("&quot;");
        else if (attribute && c == '\t')
            put_plain("&#9;");
        else if (attribute && c == '\n')
            put_plain("&#10;");
        else if (attribute && !legal)
            put_plain("\xef\xbf\xbd");
        else if (legal && (attribute || (c != 0xfffc && c != 0xfffd)))
            append(&xml, start, text - start);
    }
}

static const char *tag_of(const Node *n)
{
    return n->role >= 0 && n->role < COUNT(roles) ? roles[n->role] : "unknown";
}

static __attribute__((format(printf, 1, 2))) void put(const char *format, ...)
{
    char text[128];
    va_list values;
    va_start(values, format);
    append(&xml, text, vsnprintf(text, sizeof text, format, values)); /* all that is written so is shorter */
    va_end(values);
}

static void put_attributes(const Node *n)
{
    static const char *const values[] = {"value", "min", "max", "step"};
    put(" name=\"");
    put_escaped(n->name, MAX_NAME, true);
    put("\"");
    for (int i = 0; i < COUNT(states); i++)
        if (n->states >> i & 1)
            put(" st:%s=\"true\"", states[i]);
    const int *e = n->extents;
    if (n->has_extents)
        put(" cp:screencoord=\"(%d, %d)\" cp:size=\"(%d, %d)\"", e[0], e[1], e[2], e[3]);
    if (n->interfaces & IMAGE)
        put(" image=\"true\"");
    if (n->interfaces & SELECTION)
        put(" selection=\"true\"");
    for (int i = 0; i < COUNT(values); i++)
        if (n->has_values >> i & 1)
            put(" val:%s=\"%.12g\"", values[i], n->values[i]);
}

/* Write an element up to its first child; give false when it is complete so, or left out. */
static bool put_start(const Application *a, const Node *n)
{
    bool is_cut = n == a->nodes && a->cut;
    if (n->role < 0 && !is_cut)
        return false;
    if (written >= max_nodes || xml.length >= MAX_XML) {
        cut = true;
        return false;
    }
    written++;
    put("<%s", n->role < 0 ? "application" : tag_of(n));
    put_attributes(n);
    put(is_cut ? " cut=\"true\">" : ">");
    size_t before = xml.length;
    put_escaped(n->text, max_text, false);
    if (xml.length == before && !n->first) {
        xml.data[before - 1] = '/';
        put(">");
        return false;
    }
    return true;
}

/* Hang each accessible below its parent, in the order in which they were listed. Some windows (Chromium's bubbles) do
 * not know that the application is their parent. */
static void join(Application *a)
{
    for (int i = 1; i < a->count; i++) {
        const char *path = a->nodes[i].parent_path;
        int parent = path && *slot_of(a, path) ? *slot_of(a, path) - 1 : 0;
        Node *p = &a->nodes[parent];
        a->nodes[i].parent = parent;
        if (p->first)
            a->nodes[p->last].next = i;
        else
            p->first = i;
        p->last = i;
    }
}

static void put_application(Application *a)
{
    cut |= a->cut;
    if (!a->count)
        return;
    join(a);
    int at = 0;
    for (;;) {
        Node *n = &a->nodes[at];
        bool open = put_start(a, n);
        if (open && n->first) {
            at = n->first;
            continue;
        }
        if (open)
            put("</%s>", tag_of(n));
        while (at && !a->nodes[at].next) {
            at = a->nodes[at].parent;
            put("</%s>", tag_of(&a->nodes[at]));
        }
        if (!at)
            return;
        at = a->nodes[at].next;
    }
}

/* ---- requests ---- */

static void put_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (int left = 200; *text && left; left--) {
        int32_t c = next_character(&text);
        if (c < 0)
            c = 0xfffd;
        if (c > 0xffff)
            fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
        else if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void write_answer(FILE *out)
{
    fprintf(out, "{\"size\": %zu, \"nodes\": %d, \"cut\": %s, \"seconds\": %.6f, \"apps\": [", xml.length, written,
            truth(cut), now() - started);
    for (int i = 0; i < application_count; i++) {
        Application *a = &applications[i];
        fputs(i ? ", {\"name\": " : "{\"name\": ", out);
        put_json_string(out, a->count ? a->nodes[0].name : "");
        fprintf(out, ", \"source\": \"%s\", \"private\": %s, \"nodes\": %d, \"cut\": %s, \"seconds\": %.6f}",
                a->walked ? "walk" : "cache", truth(a->sockets[0]), a->count, truth(a->cut), a->seconds);
    }
    fputs("]}\n", out);
    fwrite(xml.data, 1, xml.length, out);
    fflush(out);
}

static void remove_absent(void)
{
    int kept = 0;
    for (int i = 0; i < application_count; i++) {
        Application *a = &applications[i];
        if (a->present) {
            applications[kept++] = *a;
            continue;
        }
        close_sockets(a);
        free(a->address);
        free(a->nodes);
        free(a->table);
    }
    application_count = kept;
}

static void read_tree(void)
{
    for (int i = 0; i < application_count; i++)
        applications[i].present = false;
    bus->first = bus->serial + 1;
    begin_call(bus, REGISTRY, ROOT, ACCESSIBLE, "GetChildren", NULL);
    end_call(bus, NULL, 0, ASK_APPLICATIONS);
    wait_for_answers();
    remove_absent();
    for (int i = 0; i < application_count; i++) {
        Application *a = &applications[i];
        if (a->waiting)
            give_up(a);
        a->suspect = a->cut && !a->heard;
        if (a->cut && a->heard && unsent(a))
            close_sockets(a); /* with the calls that it has not taken */
    }
    cut = under_way > 0; /* the registry itself did not answer */
    under_way = 0;
}

static void write_tree(void)
{
    written = 0;
    xml.length = 0;
    put_plain(head);
    put(">");
    for (int i = 0; i < application_count; i++)
        put_application(&applications[i]);
    put_plain("</desktop-frame>");
}

static void answer(const char *line)
{
    int budget;
    started = now();
    if (sscanf(line, "%d %d %d", &budget, &max_nodes, &max_text) != 3)
        exit(2);
    deadline = started + budget / 1000.0;
    read_tree();
    write_tree();
    write_answer(stdout);
    forget_all();
}

int main(int count, char **arguments)
{
    bus = count == 2 ? connect_to(arguments[1]) : NULL;
    if (!bus)
        return 1;
    begin_call(bus, BUS, "/org/freedesktop/DBus", BUS, "Hello", NULL);
    end_call(bus, NULL, 0, NOTHING);
    under_way = 0;
    Buffer in = {0};
    for (;;) {
        turn(-1);
        if (!poll(&(struct pollfd){.fd = 0, .events = POLLIN}, 1, 0))
            continue;
        reserve(&in, 4096);
        ssize_t n = read(0, in.data + in.length, 4095);
        if (n <= 0)
            return 0;
        in.length += n;
        char *end;
        while ((end = memchr(in.data, '\n', in.length))) {
            *end = 0;
            answer(in.data);
            in.length -= end + 1 - in.data;
            memmove(in.data, end + 1, in.length);
        }
    }
}
