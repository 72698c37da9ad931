// Floors (plainer programs to compare with wins) as Go programs have them: goroutines for each connection, blocking reads and writes.
//
//	relay FROM TO    relays connections; FROM and TO are ports or Unix sockets
//	far FROM TO      serves streams of one WebSocket on the Unix socket FROM, and connects each to the port TO
//	near FROM TO     carries connections on the port FROM through one WebSocket to the Unix socket TO
//
// Prints the port as soon as it listens. A message of the WebSocket is the number of a stream, 4 bytes, and data; no data ends one way. As no stream
// has flow control of its own, a slow reader stops all streams, which costs less than wins' pauses.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gorilla/websocket"
)

const (
	headBytes   = 4
	blockBytes  = 32 * 1024
	bufferBytes = 64 * 1024
)

func main() {
	role, from, to := os.Args[1], os.Args[2], os.Args[3]
	network, where := address(from)
	listener := orExit(net.Listen(network, where))
	port := 0
	if tcp, isTCP := listener.Addr().(*net.TCPAddr); isTCP {
		port = tcp.Port
	}
	switch role {
	case "relay":
		fmt.Println(port)
		eachConnection(listener, func(near net.Conn) { relay(near, to) })
	case "far":
		fmt.Println(port)
		upgrader := websocket.Upgrader{ReadBufferSize: bufferBytes, WriteBufferSize: bufferBytes}
		orExit(0, http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			socket := orExit(upgrader.Upgrade(w, r, nil))
			newTunnel(socket).read(func() (net.Conn, error) { return net.Dial(address(to)) })
		})))
	case "near":
		dialer := websocket.Dialer{
			NetDial:         func(_, _ string) (net.Conn, error) { return net.Dial("unix", to) },
			ReadBufferSize:  bufferBytes,
			WriteBufferSize: bufferBytes,
		}
		socket, _, err := dialer.Dial("ws://tunnel", nil)
		tunnel := newTunnel(orExit(socket, err))
		go tunnel.read(nil)
		fmt.Println(port)
		streams := uint32(0)
		eachConnection(listener, func(near net.Conn) {
			id := atomic.AddUint32(&streams, 1)
			tunnel.add(id, near)
			tunnel.send(id, near)
		})
	}
}

func relay(near net.Conn, to string) {
	defer near.Close()
	far, err := net.Dial(address(to))
	if err != nil {
		return
	}
	defer far.Close()
	done := make(chan struct{})
	go func() {
		io.Copy(far, near)
		closeWrite(far)
		close(done)
	}()
	io.Copy(near, far)
	closeWrite(near)
	<-done
}

type tunnel struct {
	socket  *websocket.Conn
	writing sync.Mutex
	mutex   sync.Mutex
	streams map[uint32]*stream
}

// stream is a connection that one WebSocket carries. It is closed after both of its ways have ended.
type stream struct {
	net.Conn
	ended int
}

func newTunnel(socket *websocket.Conn) *tunnel {
	return &tunnel{socket: socket, streams: map[uint32]*stream{}}
}

func (t *tunnel) add(id uint32, connection net.Conn) {
	t.mutex.Lock()
	t.streams[id] = &stream{Conn: connection}
	t.mutex.Unlock()
}

func (t *tunnel) find(id uint32) *stream {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.streams[id]
}

func (t *tunnel) end(id uint32) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if found := t.streams[id]; found != nil {
		found.ended++
		if found.ended == 2 {
			found.Close()
			delete(t.streams, id)
		}
	}
}

// send carries what a connection receives, until it ends.
func (t *tunnel) send(id uint32, from net.Conn) {
	message := make([]byte, headBytes+blockBytes)
	binary.LittleEndian.PutUint32(message, id)
	for {
		count, err := from.Read(message[headBytes:])
		if count > 0 {
			t.write(message[:headBytes+count])
		}
		if err != nil {
			t.write(message[:headBytes])
			t.end(id)
			return
		}
	}
}

func (t *tunnel) write(message []byte) {
	t.writing.Lock()
	defer t.writing.Unlock()
	orExit(0, t.socket.WriteMessage(websocket.BinaryMessage, message))
}

// read hands each message to its connection. open connects a stream that the peer began; without open, a message for no stream is dropped.
func (t *tunnel) read(open func() (net.Conn, error)) {
	buffer := make([]byte, headBytes+blockBytes)
	for {
		_, reader, err := t.socket.NextReader()
		orExit(0, err)
		count, err := io.ReadFull(reader, buffer)
		if err != io.ErrUnexpectedEOF {
			orExit(0, err)
		}
		id := binary.LittleEndian.Uint32(buffer)
		data := buffer[headBytes:count]
		to := t.find(id)
		if to == nil && open != nil && len(data) > 0 {
			t.add(id, orExit(open()))
			to = t.find(id)
			go t.send(id, to.Conn)
		}
		switch {
		case to == nil:
		case len(data) == 0:
			closeWrite(to.Conn)
			t.end(id)
		default:
			to.Write(data)
		}
	}
}

func eachConnection(listener net.Listener, serve func(net.Conn)) {
	for {
		go serve(orExit(listener.Accept()))
	}
}

func closeWrite(connection net.Conn) {
	connection.(interface{ CloseWrite() error }).CloseWrite()
}

func address(end string) (network, where string) {
	if _, err := strconv.Atoi(end); err != nil {
		return "unix", end
	}
	return "tcp", "127.0.0.1:" + end
}

func orExit[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}
